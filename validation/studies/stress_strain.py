"""Stress-strain curves: material points against closed forms, specimens between grips, cycles of plastic models."""

import numpy as np
from numpy.polynomial import legendre
from scipy.linalg import eig
from scipy.optimize import brentq

from suite import laws
from suite.plots import COLORS, finish, panels
from suite.result import number
from suite.scene import METHODS, box, elastic, settings_text

TITLE = "Stress-strain curves of every law"
SHOWS = ("Verification of the code: curves of every elastic law at a material point (`ductile probe`), and steps of snow, creep and sheared clay, "
         "against the models' own formulae written a second time. Validation: the stress of a simulated bar between grips, and loading and "
         "unloading of the plastic models, against solutions that are not the code's steps: yield stress, hysteresis, residual strain, critical "
         "state, creep and dependence on the rate.")
VERIFICATION, VALIDATION = "verification of the code", "validation"
# Of a path of plastic steps: 2.2e-16 of a stretch is 1e-14 of a strain of 0.02, summed over up to a thousand steps.
ROUNDING = 1e-11
ANSWERS = "P0 figures of stress-strain curves and of the critical compression; P1 plastic models (von Mises, sand, clay, snow, foam)"
CHECKS = {"quick": 14, "full": 16}  # bounds that each form judges

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
    finish(result, figure, "stress_strain_points", "Elastic laws at a material point (lines: ductile probe; dots: the formulae again).")
    result.table("Verification of the code: largest deviation from the law's formula, as a part of E", ["law", "uniaxial", "shear", "volumetric"], rows)
    result.check(f"{VERIFICATION}: elastic laws at a point against their formulae", worst, 1e-10,
                 "double precision: free faces are found to 1e-11 of the stiffness, which is up to ten times E here, decompositions to 1e-14", unit="E")


def closed_form(model, path, x, fiber):
    if path == "uniaxial":
        return {(0, 0): laws.uniaxial(model, x, E, NU, fiber)}
    F = np.eye(3) * x if path == "volumetric" else np.array([[1, x, 0], [0, 1, 0], [0, 0, 1.0]])
    P = laws.stress(model, F, E, NU)
    return {(0, 0): P[0, 0], (0, 1): P[0, 1]}


# ---- specimens

WIDTH, GAUGE = 0.2, 0.6
DENSITY, DAMPING, DURATION = 100.0, 20.0, 0.5


def specimen_scene(model, method, spacing, strain):
    """A bar between two grips that move apart at the same speed; each grip holds two layers behind its face and one in front."""
    grip = 2 * spacing
    length = GAUGE + 2 * grip
    speed = strain * GAUGE / 2 / DURATION
    solid = {"density": DENSITY, "elastic": elastic(model, E, NU)}
    # Jacobi sweeps leave no bias of the scalar multiplier (see the study `cantilever`).
    solver = {"method": method, "time_step": 5e-4, "end_time": DURATION, "iterations": int(round(1.0 / spacing)),
              "scheme": "jacobi", "relaxation": 0.5, "damping": DAMPING}
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


def decay_of_ends(model, stretch, order=4):
    """How fast a disturbance of the ends fades along a square bar that is stretched, as exp(-k x/half width): the slowest k of
    displacements u(y, z) exp(-k x) that leave the sides free, with the law's tangent moduli at this stretch. u is a sum of products
    of Legendre polynomials with the symmetry of the grips: y and z may be reversed or exchanged. At small strain k = 2.26."""
    lateral = laws.lateral_stretch(model, stretch, E, NU)
    F, step = np.diag([stretch, lateral, lateral]), 1e-6
    moduli = np.array([(laws.stress(model, F + d, E, NU) - laws.stress(model, F - d, E, NU)).ravel() / (2 * step * E)
                       for d in step * np.eye(9).reshape(9, 3, 3)]).T
    nodes, weights = legendre.leggauss(2 * order + 2)
    P = legendre.legvander(nodes, 2 * order - 1).T
    D = np.array([legendre.legval(nodes, legendre.legder(unit)) for unit in np.eye(2 * order)])
    along, across = [], []  # parts of the gradient of u exp(-k x): -k along + across
    for m in range(2 * order):
        for n in range(0, 2 * order if m % 2 else m + 1, 2):
            u, gradient = np.zeros((2, 3, 3, len(nodes), len(nodes)))
            for i, (f, fy, fz) in enumerate([(np.outer(P[m], P[n]), np.outer(D[m], P[n]), np.outer(P[m], D[n])),
                                             (np.outer(P[n], P[m]), np.outer(D[n], P[m]), np.outer(P[n], D[m]))]):
                component = i + 1 if m % 2 else 0
                u[component, 0] += f
                gradient[component, 1] += fy
                gradient[component, 2] += fz
            along.append(u.reshape(9, -1))
            across.append(gradient.reshape(9, -1))

    def integral(a, b):
        return np.einsum("apq,pr,brq,q->ab", np.array(a), moduli, np.array(b), np.outer(weights, weights).ravel(), optimize=True)

    zero, mixed = np.zeros((len(along),) * 2), integral(across, along)
    k = eig(np.block([[zero, np.eye(len(along))], [integral(across, across), mixed.T - mixed]]),
            np.block([[np.eye(len(along)), zero], [zero, integral(along, along)]]), right=False)
    return k.real[np.isfinite(k) & (k.real > 0.1)].min()  # without translation and stretch, k = 0


def disturbance(model, stretch, spacing, strain):
    """Largest part of the stress in the middle that is not the law's. Grips add it where they hold the bar's width, and it fades on the
    way from the nearer and from the farther layer that they hold. The sides move inwards at nu times the rate of strain, against the
    damping: a lateral stress, of which 2 nu acts along the bar."""
    stress = laws.uniaxial(model, stretch, E, NU)
    held = laws.principal_stress(model, [stretch, 1.0, 1.0], E, NU)[0] / stress - 1
    k = decay_of_ends(model, stretch)
    lateral = DENSITY * DAMPING * NU * strain / DURATION * (WIDTH / 2)**2 / 3
    return held * sum(np.exp(-k * way / (WIDTH / 2)) for way in (GAUGE / 2 - spacing, GAUGE / 2)) + abs(2 * NU * lateral / stress)


def specimens(context, result, method):
    spacing = 0.05 if context.quick else 0.025
    models = ["neo-hookean", "hencky"] if context.quick or method == "xpbi" else [m for m in MODELS if m != "linear"]
    strains = {"pulled": 0.5, "pressed": -0.15}
    scenes = {f"{model}_{name}": specimen_scene(model, method, spacing, strain)
              for model in models for name, strain in strains.items()}
    runs = context.simulate_all(scenes)
    figure, axis = panels(1)
    rows, worst, largest = [], 0.0, 0.0
    for k, model in enumerate(models):
        for name, strain in strains.items():
            run = runs[f"{model}_{name}"]
            if not run.ok:
                rows.append([model, name, "", "", run.message.splitlines()[0] if run.message else "failed", ""])
                worst = largest = float("inf")
                continue
            curve = mid_section(run, model, spacing)
            late = curve[len(curve) // 2:]  # the waves of the start have died down
            errors = np.abs(late[:, 1] / late[:, 2] - 1)
            allowed = np.array([disturbance(model, stretch, spacing, strain) for stretch in late[:, 0]])
            n = np.argmax(errors / allowed)
            worst = max(worst, errors[n] / allowed[n])
            largest = max(largest, errors.max())
            rows.append([model, name, number(curve[-1, 0], 5), number(curve[-1, 1] / E, 5), number(100 * errors[n], 2),
                         number(100 * allowed[n], 2)])
            axis.plot(curve[:, 0], curve[:, 1] / E, linestyle="", marker="o", markersize=4, color=COLORS[k])
        stretch = np.linspace(0.8, 1.55, 60)
        axis.plot(stretch, [laws.uniaxial(model, s, E, NU) / E for s in stretch], color=COLORS[k], label=model)
    axis.set(xlabel="stretch of the middle", ylabel="nominal stress / E", title=f"{method}, spacing {spacing * 1e3:g} mm")
    axis.legend()
    finish(result, figure, f"stress_strain_specimen_{method}", f"Middle section of a bar between grips, {method} (dots), against "
           "the closed form (lines).")
    result.table(f"Bar between grips, {method}, spacing {spacing * 1e3:g} mm",
                 ["law", "", "last stretch", "stress / E", "error [%]", "its bound [%]"], rows,
                 "Where the error comes nearest to its bound, from half of the way on, when the waves of the start have died down. Largest error of "
                 f"all: {100 * largest:.4g} %. Runs with {settings_text([scene['solver'] for scene in scenes.values()])}.")
    result.check(f"{VALIDATION}: error of the specimen's stress over the disturbance of its ends, {method}", worst, 1.0,
                 "a straight bar is an affine deformation, which the gradients represent exactly, so that only the ends disturb it; what "
                 "the grips add (35 % of the stress at small strain) fades as exp(-2.26 x/half width) there, and at large strain by the "
                 "law's tangent moduli; damping of the sides adds 0.01 % at most")
    if not context.quick:
        result.check(f"{VALIDATION}: largest error of the specimen's stress, {method}", 100 * largest, 0.2, "goal of the project at a spacing of 25 mm", unit="%")


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


CLAY = {"slope": 1.2, "cohesion": 0.1, "hardening": 3.0}


def clay_ellipse(log_volume):
    """Centre and half width in pressure, in units of the bulk modulus."""
    p0 = 1e-5 + np.sinh(CLAY["hardening"] * max(-log_volume, 0))
    return (1 - CLAY["cohesion"]) / 2 * p0, (1 + CLAY["cohesion"]) / 2 * p0


def clay_strength(pressure, log_volume):
    """q on the ellipse."""
    center, half_width = clay_ellipse(log_volume)
    return CLAY["slope"] * np.sqrt((half_width**2 - (pressure - center)**2) / (1 + 2 * CLAY["cohesion"]))


def clay_cycle(context, count):
    mu, lam = laws.lame(E, NU)
    kappa, start = lam + 2 * mu / 3, -0.01
    solid = material("hencky", plastic={"model": "cam-clay", **CLAY, "log_volume": start, "form": "hencky"})
    strains = legs([0, -0.2, -0.035, -0.25], 3 * count)
    found = -np.trace(follow(context, solid, [np.exp(e / 3) * np.eye(3) for e in strains]), axis1=1, axis2=2) / 3

    def yield_pressure(log_volume):
        return kappa * sum(clay_ellipse(log_volume))

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


CLAY_START = -0.05
CLAY_SHEAR, CLAY_BACK = 1.0, 0.3  # strain of the first leg, and how far it is taken back
CLAY_SIDES = {"wet": 0.75, "dry": 0.25}  # pressure over p0: above and below the centre of the ellipse (0.45)


def clay_pressure(side):
    return CLAY_SIDES[side] * sum(clay_ellipse(CLAY_START))


def clay_shear(context, count):
    """Triaxial compression at constant volume, hence constant pressure: q over the axial strain."""
    mu, lam = laws.lame(E, NU)
    kappa = lam + 2 * mu / 3
    strains = legs([0, CLAY_SHEAR], 10 * count)
    strains = np.concatenate([strains, CLAY_SHEAR - legs([0, CLAY_BACK], 3 * count)])
    curves = []
    for form in ("hencky", "neo-hookean"):
        solid = material(form, plastic={"model": "cam-clay", **CLAY, "log_volume": CLAY_START, "form": form})
        for side in CLAY_SIDES:
            pressure = clay_pressure(side)
            volume = np.exp(-pressure) if form == "hencky" else np.sqrt(1 - 2 * pressure)
            tau = follow(context, solid, [volume**(1 / 3) * isochoric(-e) for e in strains])
            expected = kappa * sheared_clay(form, pressure, volume, strains, mu / kappa)
            curves.append((f"{form}, {side}", strains, -np.sqrt(1.5) * deviator_along(tau) / E, expected / E))
    return curves


def clay_shear_stress(form, e, mu):
    """q of the elastic axial compression e (log strain)."""
    return 3 * mu * e if form == "hencky" else mu * (np.exp(e) - np.exp(-2 * e))


def sheared_clay(form, pressure, volume, strains, mu):
    """q at the strains, by the rule of the model; moduli in units of the bulk modulus."""
    log_volume, elastic_strain, last, found = CLAY_START, 0.0, 0.0, []
    for strain in strains:
        elastic_strain += strain - last
        last = strain
        center, half_width = clay_ellipse(log_volume)
        q, strength = clay_shear_stress(form, elastic_strain, mu), clay_strength(pressure, log_volume)
        if abs(q) > strength:
            part = CLAY["slope"] * half_width / np.hypot(CLAY["slope"] * (pressure - center), np.sqrt(1 + 2 * CLAY["cohesion"]) * q)
            crossing = center + part * (pressure - center)
            log_volume += crossing - pressure if form == "hencky" else np.log(volume / np.sqrt(1 - 2 * crossing))
            elastic_strain = brentq(lambda e: clay_shear_stress(form, e, mu) - np.sign(q) * strength, -2, 2, xtol=1e-15)
        found.append(clay_shear_stress(form, elastic_strain, mu))
    return np.array(found)


def critical_clay(result, curves):
    """First yield on the ellipse, and what long shear ends at: the ellipse whose centre is the pressure, from either side."""
    mu, lam = laws.lame(E, NU)
    kappa = lam + 2 * mu / 3
    stiffness, beta = 3 * mu / kappa, CLAY["cohesion"]
    rows, first, last, bound = [], 0.0, 0.0, 0.0
    for label, strains, found, _ in curves:
        form, side = label.split(", ")
        pressure = clay_pressure(side)
        at_yield = clay_strength(pressure, CLAY_START)
        end = -np.arcsinh(2 * pressure / (1 - beta) - 1e-5) / CLAY["hardening"]
        critical = clay_strength(pressure, end)
        outside = int(np.argmax(clay_shear_stress(form, strains, mu / kappa) > at_yield))
        reached = found[np.argmax(strains)] * E / kappa
        # Rate at which log_volume approaches its end, from the flow of infinitely small steps; finite ones flow 1/(1 + u) of it, where u,
        # the part by which a step leaves the ellipse, stays below 1.
        slowest, steepest = np.inf, 0.0
        for a in np.linspace(CLAY_START, end, 100)[:-1]:
            center, half_width = clay_ellipse(a)
            q, slope = clay_strength(pressure, a), (clay_strength(pressure, a + 1e-7) - clay_strength(pressure, a - 1e-7)) / 2e-7
            b = (pressure - center) * (1 + 2 * beta) * q / (CLAY["slope"] * half_width)**2
            slowest = min(slowest, -b * stiffness / (1 - b * slope) / (end - a))
            steepest = max(steepest, abs(slope))
        flow = CLAY_SHEAR - strains[outside]
        first = max(first, abs(found[outside] * E / kappa / at_yield - 1))
        last = max(last, abs(reached / critical - 1))
        bound = max(bound, steepest / critical * abs(end - CLAY_START) * np.exp(-slowest * flow / 2))
        rows.append([label, number(CLAY_SIDES[side], 3), number(at_yield, 5), number(found[outside] * E / kappa, 5), number(critical, 5),
                     number(reached, 5), "hardens" if reached > at_yield else "softens"])
    result.table("Cam-clay sheared at constant volume: q over the bulk modulus",
                 ["form, side", "p/p0", "ellipse", "first yield", "critical state", "after long shear", ""], rows,
                 "Above the centre of its ellipse clay compacts and hardens, below it dilates and softens, until the centre is at its pressure.")
    result.check(f"{VALIDATION}: cam-clay, sheared, first yield against the ellipse", first, ROUNDING,
                 "a step ends on the ellipse that it began with: rounding")
    result.check(f"{VALIDATION}: cam-clay, sheared, q after long shear against the critical state", last, bound,
                 "the centre of the ellipse approaches the pressure exponentially: at the slowest rate on its way, halved because finite steps "
                 "flow less")


def snow_cycle(context, count):
    mu, lam = laws.lame(E, NU)
    limit, hardening = 0.025, 10.0
    solid = material("fixed-corotated", plastic={"model": "snow", "critical_compression": limit, "critical_stretch": 0.0075,
                                                 "hardening": hardening})
    stretches = legs([1, 0.9, 0.925, 0.86], count)
    found = follow(context, solid, [np.diag([s, 1.0, 1.0]) for s in stretches])[:, 0, 0]
    expected, plastic = [], 1.0
    for s in stretches:
        elastic_part = s / plastic
        kept = min(max(elastic_part, 1 - limit), 1.0075)
        plastic *= elastic_part / kept
        factor = np.exp(hardening * (1 - plastic))
        expected.append(factor * (2 * mu * (kept - 1) * kept + lam * (kept - 1) * kept))
    return [("confined", stretches - 1, found / E, np.array(expected) / E)]


FOAM_POWERS, FOAM_STEPS, FOAM_STRETCH = (0.5, 1.0, 2.0), 150, 1.3


def foam_release(rate, power, viscosity):
    """Part by which the plastic rate exceeds that of the bar, which falls as the bar gets longer, rate' = -rate^2/sqrt(3/2): the stress falls
    with it and releases elastic strain, s'/(2 mu) of the deviator and (1 - 2 nu) s'/(2 E) of the volume, 3/2 s'/E together."""
    return 1.5 / E * viscosity * power * rate**power / np.sqrt(1.5)


def foam_rates(context, count):
    """Stress of a bar that flows at a slowly falling rate (Herschel-Bulkley): |dev tau| = sqrt(2/3) s_Y + eta rate^h, with the rate of the last
    step and what the falling stress adds to it."""
    viscosity, stress = 0.005 * E, 0.005 * E
    curves = []
    last = np.sqrt(1.5) * np.log(FOAM_STRETCH / (FOAM_STRETCH - (FOAM_STRETCH - 1) / FOAM_STEPS))  # strain of the last step
    for power in FOAM_POWERS:
        solid = material("hencky", plastic={"model": "herschel-bulkley", "yield_stress": stress, "viscosity": viscosity, "power": power})
        speeds, rates, found = np.geomspace(0.03, 0.7, 4), [], []
        for speed in speeds:  # of the stretch
            dt = (FOAM_STRETCH - 1) / FOAM_STEPS / float(speed)
            curve = context.probe_curve(solid, "uniaxial", 1.0, FOAM_STRETCH, FOAM_STEPS, dt=dt)
            rates.append(last / dt)
            found.append(np.sqrt(2 / 3) * curve["tau11"][-1])
        rates = np.array(rates)
        plastic = rates * (1 + foam_release(rates, power, viscosity))
        curves.append((f"power {power:g}", rates, np.array(found) / E, (np.sqrt(2 / 3) * stress + viscosity * plastic**power) / E))
    return curves


def foam_rate_bound(curves, count):
    # What the release itself releases, (power x release)^2, and the release over a step of (stretch - 1)/steps.
    released = max(power * foam_release(rates.max(), power, 0.005 * E) for power, (_, rates, _, _) in zip(FOAM_POWERS, curves))
    return released * (released + (FOAM_STRETCH - 1) / FOAM_STEPS)


PASTE = {"yield_stress": 0.005 * E, "viscosity": 0.005 * E}
PASTE_RATES = (1.0, 2.0)  # of the deviator of strain [1/s]


def foam_cycle(context, count):
    """Loaded at a constant rate, held, and loaded the other way (power 1): the overstress follows exponentials of the time eta/(2 mu)."""
    mu, _ = laws.lame(E, NU)
    eta, limit = PASTE["viscosity"], np.sqrt(2 / 3) * PASTE["yield_stress"]
    time = eta / (2 * mu)
    solid = material("hencky", plastic={"model": "herschel-bulkley", **PASTE, "power": 1.0})
    load, hold, back = 3.5 * time, 1.5 * time, 4 * time
    dt = foam_step(count) * time
    times = dt * np.arange(1, round((load + hold + back) / dt) + 1)
    curves = []
    for rate in PASTE_RATES:
        def flowing(t):
            return limit + eta * rate * (1 - np.exp(-t / time))

        rise = limit / (2 * mu * rate)
        loaded = flowing(load - rise) - limit
        held = loaded * np.exp(-hold / time)
        fall = time * np.log(1 + held / (eta * rate))

        def stress(t):
            if t < load:
                return 2 * mu * rate * t if t < rise else flowing(t - rise)
            if t < load + hold:
                return limit + loaded * np.exp((load - t) / time)
            t -= load + hold
            if t < fall:
                return limit - eta * rate + (held + eta * rate) * np.exp(-t / time)
            t -= fall
            return limit - 2 * mu * rate * t if t < 2 * rise else -flowing(t - 2 * rise)

        strains = rate / np.sqrt(1.5) * (np.minimum(times, load) - np.maximum(times - load - hold, 0))
        found = deviator_along(follow(context, solid, map(isochoric, strains), dt))
        curves.append((f"rate {rate:g}/s", strains, found / E, np.array([stress(t) for t in times]) / E))
    return curves


def foam_step(count):
    """Step of foam_cycle over its relaxation time."""
    return 0.5 / count


def foam_bound(curves, count):
    # An implicit Euler step z on y' = -y errs by z^2/2 |y''|, at most z^2/2 times twice the steady overstress; as errors decay with y, they
    # sum up to 1/z of one. Between leaving and reaching the yield point nothing decays: two more.
    z = foam_step(count)
    return max(z * (1 + 2 * z) * PASTE["viscosity"] / E * rate / np.abs(curve[3]).max() for rate, curve in zip(PASTE_RATES, curves))


CREEP = {"yield_strain": 0.02, "rate": 5.0}


def creep_step(count):
    """Step over the time of creep, 1/rate."""
    return 0.5 / count


def creep_relaxation(context, count):
    """Held at constant strain: the elastic strain decays as exp(-rate t), down to the yield strain or until max_strain is used up."""
    mu, lam = laws.lame(E, NU)
    dt, shear = creep_step(count) / CREEP["rate"], 0.2
    F = np.array([[1, shear, 0], [0, 1, 0], [0, 0, 1.0]])
    e = (F.T @ F - np.eye(3)) / 2
    inverse, size = np.linalg.inv(F), np.linalg.norm(e)
    at_once = np.linalg.norm(2 * mu * e + lam * np.trace(e) * np.eye(3))
    times = dt * np.arange(1, 5 * count + 1)
    curves = []
    for most in (1.0, 0.08):
        solid = material("stvk", plastic={"model": "creep", **CREEP, "max_strain": most})
        tau = follow(context, solid, [F] * len(times), dt)
        found = np.array([np.linalg.norm(inverse @ t @ inverse.T) for t in tau])  # second Piola stress
        left = np.maximum(np.exp(-CREEP["rate"] * times), max(CREEP["yield_strain"], size - most) / size)
        curves.append((f"max_strain {most:g}", times, found / E, at_once * left / E))
    return curves


def creep_bound(curves, count):
    # (1 - z)^n is below exp(-n z) by n z^2/2 exp((1 - n) z) at most, largest at n z = 1; the last step may pass the limit by z of it.
    # The largest stress is that after the first step, exp(-z) of the first.
    z, expected = creep_step(count), curves[0][3]
    return z * max(np.exp(2 * z) / (2 * np.e), expected.min() / expected[0])


def creep_cycle(context, count):
    """A Green strain a N is raised, held and taken back; N has no trace, so that the stress along it is 2 mu (a - plastic part)."""
    mu, _ = laws.lame(E, NU)
    z, most = creep_step(count), 0.05
    solid = material("stvk", plastic={"model": "creep", **CREEP, "max_strain": most})
    direction = np.array([2.0, -1.0, -1.0]) / np.sqrt(6)
    strains = legs([0, 0.103, 0.103, 0.0], 2 * count)
    stretches = [np.sqrt(1 + 2 * a * direction) for a in strains]
    tau = follow(context, solid, map(np.diag, stretches), z / CREEP["rate"])
    found = np.array([np.sum(direction * np.diag(t) / s**2) for t, s in zip(tau, stretches)])
    plastic, expected = 0.0, []
    for a in strains:
        if abs(a - plastic) > CREEP["yield_strain"]:
            plastic += z * (a - plastic)
        plastic = np.clip(plastic, -most, most)
        expected.append(2 * mu * (a - plastic))
    return [("raised, held, taken back", strains, found / E, np.array(expected) / E)]


def clay_bound(curves, count):
    mu, lam = laws.lame(E, NU)
    _, strains, _, expected = curves[0]
    return (lam + 2 * mu / 3) / E * np.abs(np.diff(strains)).max() / np.abs(expected).max()


CYCLES = {  # name: (function, kind, abscissa, ordinate, bound as a part of the largest stress, origin)
    "von-mises": (metal_cycle, VALIDATION, "strain", "dev tau / E", ROUNDING, "radial return is exact on a straight path: rounding"),
    "drucker-prager": (sand_cycle, VALIDATION, "strain at constant pressure", "dev tau / E", ROUNDING,
                       "constant pressure makes the cone a cylinder, on which radial return is exact: rounding"),
    "snow": (snow_cycle, VERIFICATION, "confined strain", "tau11 / E", ROUNDING, "the same clamp of the stretch, written again: rounding"),
    "cam-clay, compressed": (clay_cycle, VALIDATION, "log volume", "pressure / E", clay_bound,
                             "the mapping hardens with the state at the start of a step, so that it lags by up to one elastic step, "
                             "kappa times the strain"),
    "cam-clay, sheared": (clay_shear, VERIFICATION, "axial compression at constant volume", "q / E", ROUNDING,
                          "the same steps by the formulae of the model, written again: rounding"),
    "herschel-bulkley, steady": (foam_rates, VALIDATION, "rate of the last step [1/s]", "|dev tau| / E", foam_rate_bound,
                                 "the bar's rate falls as it gets longer, and the elastic strain that this releases adds to the plastic rate: what "
                                 "that releases in turn, and changes within a step, is left"),
    "herschel-bulkley, cycle": (foam_cycle, VALIDATION, "strain", "dev tau / E", foam_bound,
                                "implicit Euler steps of z relaxation times miss an exponential by z/2 of what it decays by, at most twice "
                                "the steady overstress"),
    "creep, held": (creep_relaxation, VALIDATION, "time [s]", "stress / E", creep_bound,
                    "(1 - z)^n is below exp(-n z) by z exp(z)/(2 e) at most; the last step may pass the yield strain by z of it"),
    "creep, cycle": (creep_cycle, VERIFICATION, "strain", "stress / E", ROUNDING,
                     "the same steps by the formulae of the model, written again: rounding"),
}


def residual_strain(strains, stresses):
    """Where the stress first changes its sign; nan: nowhere."""
    turn = np.nonzero(stresses[1:] * stresses[:-1] < 0)[0]
    if not len(turn):
        return np.nan
    n = turn[0]
    return strains[n] - stresses[n] * (strains[n + 1] - strains[n]) / (stresses[n + 1] - stresses[n])


def cycles(context, result):
    count = 5 if context.quick else 20
    figure, grid = panels(3, height=4.0)
    figure.clear()
    grid = figure.subplots(3, 3).ravel()
    figure.set_size_inches(13, 11)
    rows, loops, curves_of = [], [], {}
    for axis, (name, (function, kind, abscissa, ordinate, bound, origin)) in zip(grid, CYCLES.items()):
        curves = curves_of[name] = function(context, count)
        worst, bound = 0.0, bound(curves, count) if callable(bound) else bound
        for k, (label, x, found, expected) in enumerate(curves):
            plot = axis.loglog if name == "herschel-bulkley, steady" else axis.plot
            plot(x, expected, color=COLORS[k], label=label)
            plot(x, found, linestyle="", marker="o", markersize=3.5, color=COLORS[k])
            worst = max(worst, np.abs(found - expected).max() / np.abs(expected).max())
            rest = residual_strain(x, expected)
            if np.isfinite(rest):
                loops.append([name, label, number(rest, 4), number(residual_strain(x, found), 4),
                              number(np.trapezoid(expected, x), 4), number(np.trapezoid(found, x), 4)])
        axis.set(title=name, xlabel=abscissa, ylabel=ordinate)
        axis.legend(fontsize=8)
        rows.append([name, kind, number(worst, 2), number(bound, 2)])
        result.check(f"{kind}: {name}, deviation as a part of the largest stress", worst, bound, origin)
    finish(result, figure, "stress_strain_cycles", "Plastic models at a material point (dots) against closed solutions or their own steps written "
           "again (lines): loading, unloading and loading the other way; steady flow over the rate; relaxation at a held strain.")
    result.table("Plastic models: largest deviation as a part of the largest stress", ["model", "", "deviation", "bound"], rows,
                 "Validation: against a solution that does not take the code's steps. Verification: against those steps, written again.")
    result.table("Their loops", ["model", "", "residual strain", "measured", "work / E", "measured"], loops,
                 "Residual strain: where the first unloading ends without stress. Work: area under the whole curve, by trapezoids between its "
                 "points. What is expected stands before what was measured.")
    critical_clay(result, curves_of["cam-clay, sheared"])


def run(context, result):
    point_curves(context, result)
    for method in METHODS:
        specimens(context, result, method)
    cycles(context, result)
