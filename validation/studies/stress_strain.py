"""Stress-strain curves: material points against closed forms, specimens between grips, cycles of plastic models."""

import numpy as np
from scipy.optimize import brentq

from suite import laws
from suite.plots import COLORS, finish, panels
from suite.result import number
from suite.scene import box, elastic

TITLE = "Stress-strain curves of every law"
SHOWS = ("Uniaxial, shear and volumetric curves of every elastic law at a material point (`ductile probe`) against closed forms "
         "written separately; the stress of a simulated bar between grips against the same; loading and unloading of every "
         "plastic model: yield stress, hysteresis, residual strain, creep and dependence on the rate.")
ANSWERS = "P0 figures of stress-strain curves and of the critical compression; P1 plastic models (von Mises, sand, clay, snow, foam)"

MODELS = ["linear", "corotated", "fixed-corotated", "stvk", "neo-hookean", "hencky"]
E, NU = 1e5, 0.3


def material(model, **more):
    return {"density": 1000.0, "elastic": elastic(model, E, NU), **more}


# ---- material points

def point_curves(context, result):
    steps = 20 if context.quick else 70
    rows, worst = [], 0.0
    figure, axes = panels(3)
    fibers = [{"direction": [1.0, 0.0, 0.0], "stiffness": 5e4}]
    cases = [(model, 0.0) for model in MODELS] + [("neo-hookean", 5e4)]
    for k, (model, fiber) in enumerate(cases):
        solid = material(model, fibers=fibers) if fiber else material(model)
        name = model + (" + fibres" if fiber else "")
        errors = []
        for axis, path, first, last in zip(axes, ["uniaxial", "shear", "volumetric"], [0.6, -1.0, 0.6], [1.75, 1.0, 1.5]):
            if fiber and path != "uniaxial":
                continue
            curve = context.probe_curve(solid, path, first, last, steps)
            component = "P12" if path == "shear" else "P11"
            expected = np.array([closed_form(model, path, x, fiber)[(0, 1) if path == "shear" else (0, 0)]
                                 for x in curve["stretch"]])
            errors.append(np.abs(curve[component] - expected).max() / E)
            axis.plot(curve["stretch"], curve[component] / E, color=COLORS[k % 8], label=name)
            axis.plot(curve["stretch"][::5], expected[::5] / E, linestyle="", marker="o", markersize=3, color=COLORS[k % 8])
        worst = max(worst, max(errors))
        rows.append([name] + [number(e, 2) for e in errors] + [""] * (3 - len(errors)))
    for axis, title, label in zip(axes, ["uniaxial, free sides", "simple shear", "volumetric"],
                                  ["stretch", "shear", "stretch"]):
        axis.set(title=title, xlabel=label)
    axes[0].set_ylabel("nominal stress / E")
    axes[0].set_ylim(-2.5, 3.2)
    axes[2].set_ylim(-6, 4)
    axes[0].legend(fontsize=8)
    finish(result, figure, "stress_strain_points", "Elastic laws at a material point (lines: ductile probe; dots: closed form).")
    result.table("Largest deviation from the closed form, as a part of E", ["law", "uniaxial", "shear", "volumetric"], rows)
    result.check("elastic laws at a point against closed forms", worst, 1e-9,
                 "double precision: free faces are found to 1e-11 of the stiffness, decompositions to 1e-14", unit="E")


def closed_form(model, path, x, fiber):
    if path == "uniaxial":
        return {(0, 0): laws.uniaxial(model, x, E, NU, fiber)}
    F = np.eye(3) * x if path == "volumetric" else np.array([[1, x, 0], [0, 1, 0], [0, 0, 1.0]])
    P = laws.stress(model, F, E, NU)
    return {(0, 0): P[0, 0], (0, 1): P[0, 1]}


# ---- specimens

WIDTH, GAUGE = 0.2, 0.6


def specimen_scene(model, method, spacing, strain):
    """A bar between two grips that move apart at the same speed; each grip holds two layers behind its face and one in front."""
    grip = 2 * spacing
    length = GAUGE + 2 * grip
    duration = 0.5
    speed = strain * GAUGE / 2 / duration
    solid = {"density": 100.0, "elastic": elastic(model, E, NU)}
    # Jacobi sweeps leave no bias of the scalar multiplier (see the study `cantilever`).
    solver = {"method": method, "time_step": 5e-4, "end_time": duration, "iterations": int(round(1.0 / spacing)),
              "scheme": "jacobi", "relaxation": 0.5, "damping": 20.0}
    return {
        "solver": solver,
        "world": {"gravity": [0.0, 0.0, 0.0]},
        "materials": {"m": solid},
        "bodies": [{"name": "bar", "material": "m", "spacing": spacing, "shape": box([length, WIDTH, WIDTH])}],
        "fixtures": [{"name": side, "body": "bar", "region": box([2 * 3 * spacing, 1, 1], [sign * length / 2, 0, 0]),
                      "motion": {"velocity": [sign * speed, 0.0, 0.0]}} for side, sign in (("left", -1.0), ("right", 1.0))],
        "output": {"interval": 0.05, "fields": ["deformation_gradient", "cauchy_stress"]},
    }


def mid_section(run, model, spacing):
    """(stretch, nominal stress, closed form at that stretch) of every frame, from the particles in the middle."""
    rest = run.frame(0)["points"]
    chosen = np.abs(rest[:, 0]) < 1.01 * spacing
    curve = []
    for index in range(len(run.frames())):
        frame = run.frame(index)
        F = frame["deformation_gradient"].reshape(-1, 3, 3)[chosen].astype(float)
        sigma = frame["cauchy_stress"].reshape(-1, 3, 3)[chosen].astype(float)
        J = np.linalg.det(F)
        P = J[:, None, None] * sigma @ np.linalg.inv(F).transpose(0, 2, 1)
        stretch = F[:, 0, 0].mean()
        curve.append((stretch, P[:, 0, 0].mean(), laws.uniaxial(model, stretch, E, NU)))
    return np.array(curve)


def specimens(context, result, method):
    spacing = 0.05 if context.quick else 0.025
    models = ["neo-hookean", "hencky"] if context.quick or method == "xpbi" else [m for m in MODELS if m != "linear"]
    strains = {"pulled": 0.5, "pressed": -0.15}
    scenes = {f"{model}_{name}": specimen_scene(model, method, spacing, strain)
              for model in models for name, strain in strains.items()}
    runs = context.simulate_all(scenes)
    figure, axis = panels(1)
    rows, worst = [], 0.0
    for k, model in enumerate(models):
        for name in strains:
            run = runs[f"{model}_{name}"]
            if not run.ok:
                rows.append([model, name, "", "", run.message.splitlines()[0] if run.message else "failed"])
                worst = float("inf")
                continue
            curve = mid_section(run, model, spacing)
            loaded = curve[np.abs(curve[:, 0] - 1) > 0.02]
            error = np.abs(loaded[:, 1] / loaded[:, 2] - 1).max()
            worst = max(worst, error)
            rows.append([model, name, number(curve[-1, 0], 5), number(curve[-1, 1] / E, 5), number(100 * error, 2)])
            axis.plot(curve[:, 0], curve[:, 1] / E, linestyle="", marker="o", markersize=4, color=COLORS[k])
        stretch = np.linspace(0.8, 1.55, 60)
        axis.plot(stretch, [laws.uniaxial(model, s, E, NU) / E for s in stretch], color=COLORS[k], label=model)
    axis.set(xlabel="stretch of the middle", ylabel="nominal stress / E", title=f"{method}, spacing {spacing * 1e3:g} mm")
    axis.legend()
    finish(result, figure, f"stress_strain_specimen_{method}", f"Middle section of a bar between grips, {method} (dots), against "
           "the closed form (lines).")
    result.table(f"Bar between grips, {method}, spacing {spacing * 1e3:g} mm",
                 ["law", "", "last stretch", "stress / E", "largest error [%]"], rows)
    result.check(f"stress of the specimen against the law, {method}", 100 * worst, 0.2,
                 "a straight bar is an affine deformation, which the gradients represent exactly; the ends' disturbance has decayed "
                 "by exp(-2 pi) = 0.2 % in the middle, three half widths away", unit="%")


# ---- plastic cycles at a material point

def follow(context, solid, path, dt=None):
    """Drives `ductile probe` along total deformation gradients: F_trial = F (F_last)^-1 F_elastic."""
    additive = solid["plastic"]["model"] == "creep"
    with context.material_scene(solid) as file:
        elastic_F, last, state, points = np.eye(3), np.eye(3), {}, []
        for F in path:
            trial = F if additive else F @ np.linalg.inv(last) @ elastic_F
            answer = context.probe_point(file, trial, dt, state)
            elastic_F = np.reshape(answer["F_elastic"], (3, 3))
            state, last = answer["state"] or {}, F
            points.append(np.reshape(answer["tau"], (3, 3)))
    return np.array(points)


def isochoric(strain):
    return np.diag(np.exp(np.array([1.0, -0.5, -0.5]) * strain))


def legs(turning, count):
    """Equal steps between turning points, each point once."""
    points = [np.linspace(a, b, count + 1)[1:] for a, b in zip(turning[:-1], turning[1:])]
    return np.concatenate(points)


def scalar_plasticity(strains, modulus, radius, hardening=0.0):
    """Stress of a bar with isotropic hardening: yields at `radius`, which grows by modulus*hardening per plastic strain."""
    plastic, stresses = 0.0, []
    for strain in strains:
        excess = abs(strain - plastic) - radius / modulus
        if excess > 0:
            flow = excess / (1 + hardening)
            plastic += np.sign(strain - plastic) * flow
            radius += modulus * hardening * flow
        stresses.append(modulus * (strain - plastic))
    return np.array(stresses)


def deviator_along(tau):
    """Component of dev tau along diag(2,-1,-1)/sqrt(6), the direction of the isochoric path."""
    direction = np.diag([2.0, -1.0, -1.0]) / np.sqrt(6)
    return np.einsum("nij,ij->n", tau, direction)


def metal_cycle(context, count):
    mu, _ = laws.lame(E, NU)
    curves = []
    strains = legs([0, 0.04, -0.04, 0.02], count)
    for hardening in (0.0, 0.2):
        solid = material("hencky", plastic={"model": "von-mises", "yield_stress": 0.02 * E, "hardening": hardening})
        found = deviator_along(follow(context, solid, map(isochoric, strains)))
        expected = scalar_plasticity(np.sqrt(1.5) * strains, 2 * mu, 0.02 * E, hardening)
        curves.append((f"hardening {hardening:g}", strains, found / E, expected / E))
    return curves


def sand_cycle(context, count):
    mu, lam = laws.lame(E, NU)
    squeeze = -0.012
    sine = np.sin(np.radians(35.0))
    alpha = np.sqrt(2 / 3) * 2 * sine / (3 - sine)
    solid = material("hencky", plastic={"model": "drucker-prager", "friction_angle": 35.0})
    strains = legs([0, 0.03, -0.03, 0.01], count)
    path = [np.exp(squeeze / 3) * isochoric(e) for e in strains]
    found = deviator_along(follow(context, solid, path))
    radius = -alpha * (3 * lam + 2 * mu) * squeeze  # constant pressure: constant yield radius
    return [("pressure held", strains, found / E, scalar_plasticity(np.sqrt(1.5) * strains, 2 * mu, radius) / E)]


def clay_cycle(context, count):
    mu, lam = laws.lame(E, NU)
    kappa, hardening, start = lam + 2 * mu / 3, 3.0, -0.01
    solid = material("hencky", plastic={"model": "cam-clay", "slope": 1.2, "cohesion": 0.1, "hardening": hardening,
                                        "log_volume": start, "form": "hencky"})
    strains = legs([0, -0.2, -0.12, -0.25], 3 * count)
    found = -np.trace(follow(context, solid, [np.exp(e / 3) * np.eye(3) for e in strains]), axis1=1, axis2=2) / 3

    def yield_pressure(log_volume):
        return kappa * (1e-5 + np.sinh(hardening * max(-log_volume, 0)))

    def compressed(strain):  # strain = -p/kappa + (alpha - alpha_0), p = p0(alpha)
        return brentq(lambda a: -yield_pressure(a) / kappa + (a - start) - strain, start - 1, start)

    log_volume, expected = start, []
    for strain in strains:
        pressure = -kappa * (strain - (log_volume - start))
        if pressure > yield_pressure(log_volume):
            log_volume = compressed(strain)
            pressure = yield_pressure(log_volume)
        expected.append(pressure)
    return [("pressure", strains, found / E, np.array(expected) / E)]


def snow_cycle(context, count):
    mu, lam = laws.lame(E, NU)
    limit, hardening = 0.025, 10.0
    solid = material("fixed-corotated", plastic={"model": "snow", "critical_compression": limit, "critical_stretch": 0.0075,
                                                 "hardening": hardening})
    stretches = legs([1, 0.9, 0.905, 0.86], count)
    found = follow(context, solid, [np.diag([s, 1.0, 1.0]) for s in stretches])[:, 0, 0]
    expected, plastic = [], 1.0
    for s in stretches:
        elastic_part = s / plastic
        kept = min(max(elastic_part, 1 - limit), 1.0075)
        plastic *= elastic_part / kept
        factor = np.exp(hardening * (1 - plastic))
        expected.append(factor * (2 * mu * (kept - 1) * kept + lam * (kept - 1) * kept))
    return [("confined", stretches - 1, found / E, np.array(expected) / E)]


def foam_rates(context, count):
    """Stress of a bar that flows at a slowly falling rate (Herschel-Bulkley): |dev tau| = sqrt(2/3) s_Y + eta rate^h."""
    viscosity, stress = 0.005 * E, 0.005 * E
    curves = []
    for power in (0.5, 1.0, 2.0):
        solid = material("hencky", plastic={"model": "herschel-bulkley", "yield_stress": stress, "viscosity": viscosity, "power": power})
        speeds, rates, found = np.geomspace(0.03, 0.7, 4), [], []
        for speed in speeds:  # of the stretch
            curve = context.probe_curve(solid, "uniaxial", 1.0, 1.3, 150, dt=0.3 / 150 / float(speed))
            rates.append(np.sqrt(1.5) * speed / 1.3)
            found.append(np.sqrt(2 / 3) * curve["tau11"][-1])
        rates = np.array(rates)
        curves.append((f"power {power:g}", rates, np.array(found) / E, (np.sqrt(2 / 3) * stress + viscosity * rates**power) / E))
    return curves


def creep_relaxation(context, count):
    mu, _ = laws.lame(E, NU)
    rate, dt, limit, shear = 5.0, 0.02, 0.02, 0.2
    solid = material("stvk", plastic={"model": "creep", "yield_strain": limit, "rate": rate, "max_strain": 1.0})
    F = np.array([[1, shear, 0], [0, 1, 0], [0, 0, 1.0]])
    times = dt * np.arange(1, 5 * count + 1)
    tau = follow(context, solid, [F] * len(times), dt)
    inverse = np.linalg.inv(F)
    found = np.array([np.linalg.norm(inverse @ t @ inverse.T) for t in tau])  # second Piola stress
    e0 = (F.T @ F - np.eye(3)) / 2
    expected, e = [], e0.copy()
    for _ in times:
        if np.linalg.norm(e) > limit:
            e = e * (1 - dt * rate)
        _, lam = laws.lame(E, NU)
        expected.append(np.linalg.norm(2 * mu * e + lam * np.trace(e) * np.eye(3)))
    return [("held shear 0.2", times, found / E, np.array(expected) / E)]


CYCLES = {  # name: (function, abscissa, ordinate, bound as a part of the largest stress, origin)
    "von-mises": (metal_cycle, "strain", "dev tau / E", 1e-9, "radial return is exact on a straight path: rounding"),
    "drucker-prager": (sand_cycle, "strain at constant pressure", "dev tau / E", 1e-9,
                       "constant pressure makes the cone a cylinder: rounding"),
    "cam-clay": (clay_cycle, "log volume", "pressure / E", lambda count: 0.34 / count,
                 "the mapping hardens with the state at the start of a step, so that it lags by up to one elastic step, kappa times the strain"),
    "snow": (snow_cycle, "confined strain", "tau11 / E", 1e-9, "stretches are clamped exactly: rounding"),
    "herschel-bulkley": (foam_rates, "plastic rate [1/s]", "|dev tau| / E", 0.01,
                         "the bar's rate falls as it gets longer; the elastic strain that this releases, below 1 %, adds to the plastic rate"),
    "creep": (creep_relaxation, "time [s]", "stress / E", 1e-9, "the same geometric decay: rounding"),
}


def cycles(context, result):
    count = 5 if context.quick else 20
    figure, grid = panels(3, height=4.0)
    figure.clear()
    grid = figure.subplots(2, 3).ravel()
    figure.set_size_inches(13, 7.4)
    rows = []
    for axis, (name, (function, abscissa, ordinate, bound, origin)) in zip(grid, CYCLES.items()):
        worst, bound = 0.0, bound(count) if callable(bound) else bound
        for k, (label, x, found, expected) in enumerate(function(context, count)):
            plot = axis.loglog if name == "herschel-bulkley" else axis.plot
            plot(x, expected, color=COLORS[k], label=label)
            plot(x, found, linestyle="", marker="o", markersize=3.5, color=COLORS[k])
            worst = max(worst, np.abs(found - expected).max() / np.abs(expected).max())
        axis.set(title=name, xlabel=abscissa, ylabel=ordinate)
        axis.legend(fontsize=8)
        rows.append([name, number(worst, 2), number(bound, 2)])
        result.check(f"{name}: deviation from the closed form, part of the largest stress", worst, bound, origin)
    finish(result, figure, "stress_strain_cycles", "Plastic models at a material point (dots) against closed forms (lines): loading, "
           "unloading and loading the other way; steady flow over the rate; relaxation at a held strain.")
    result.table("Plastic models: largest deviation as a part of the largest stress", ["model", "deviation", "bound"], rows)


def run(context, result):
    point_curves(context, result)
    for method in context.methods("total-lagrangian", "xpbi"):
        specimens(context, result, method)
    if context.has("xpbi"):
        cycles(context, result)
