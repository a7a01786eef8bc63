"""What survives: flattened, inverted and scrambled bodies, hard impacts, extreme parameters."""

from itertools import takewhile

import numpy as np

from suite.plots import COLORS, MARKERS, finish, panels
from suite.result import number
from suite.scene import METHODS, box, elastic

TITLE = "Robustness"
SHOWS = ("A block whose particles are pressed into a plane, turned inside out or thrown about at random and then let go; a block thrown "
         "at the ground faster and faster, with each gradient operator and multiplier; materials and steps far outside of what one would choose. "
         "What survives, what comes back to its shape, and what does not.")
ANSWERS = "P0, recovery from degenerate states, and comparison of methods by the impact speed at which they fail"
CHECKS = {"quick": 14, "full": 14}  # bounds that each form judges

SPACING, LAYERS = 0.05, 6
SIZE = SPACING * LAYERS


def lattice():
    at = SPACING * (np.arange(LAYERS) - (LAYERS - 1) / 2)
    return np.array([[x, y, z] for x in at for y in at for z in at])


def targets(state):
    """Where the particles of the block are let go."""
    X = lattice()
    if state == "flattened":
        return X * [1, 1, 0]
    if state == "inverted":
        return X * [1, 1, -1]
    if state == "crushed to a line":
        return X * [1, 0, 0]
    return np.random.default_rng(1).uniform(-SIZE / 2, SIZE / 2, X.shape)  # scrambled


STATES = {"flattened": {"stretch": [1.0, 1.0, 0.0]}, "crushed to a line": {"stretch": [1.0, 0.0, 0.0]},
          "inverted": {"stretch": [1.0, 1.0, -1.0]}, "scrambled": {"scramble": SIZE / 2}}


def degenerate_scene(state, method, model, more):
    """The total-Lagrangian body starts in its state, at rest. XPBI has no such start: there every particle has a fixture of its own,
    which carries it to its target in the first step and lets go, so that it flies on."""
    step = 1e-3
    scene = {
        "solver": {"method": method, "time_step": step, "end_time": 2.0, "iterations": 20, "damping": 5.0, **more},
        "world": {"gravity": [0.0, 0.0, 0.0]},
        "materials": {"m": {"density": 1000.0, "elastic": elastic(model, 1e5, 0.3)}},
        "bodies": [{"name": "block", "material": "m", "spacing": SPACING, "shape": box([SIZE] * 3)}],
        "output": {"interval": 0.5, "fields": ["deformation_gradient"]},
    }
    if method == "total-lagrangian":
        scene["bodies"][0]["initial"] = STATES[state]
    else:
        scene["fixtures"] = [{"name": f"f{k}", "body": "block", "region": box([SPACING / 2] * 3, X),
                              "motion": {"velocity": [float(v) for v in (x - X) / step]}, "release_at": step}
                             for k, (X, x) in enumerate(zip(lattice(), targets(state)))]
    return scene


def misfit(points, rest):
    """Root-mean-square distance from the rest shape after the best rotation, over the size."""
    a, b = points - points.mean(0), rest - rest.mean(0)
    U, _, Vt = np.linalg.svd(a.T @ b)
    R = U @ np.diag([1, 1, np.sign(np.linalg.det(U @ Vt))]) @ Vt
    return np.sqrt(((a - b @ R.T)**2).sum(1).mean()) / SIZE


def degenerate(context, result, method, models, **more):
    label = method + "".join(f", {key} {value}" for key, value in more.items())
    scenes = {f"{label}_{state}_{model}": degenerate_scene(state, method, model, more) for state in STATES for model in models}
    runs = context.simulate_all(scenes)
    rows, survived, flat, worst = [], True, 0.0, 0.0
    for state in STATES:
        row = [state]
        for model in models:
            run = runs[f"{label}_{state}_{model}"]
            survived = survived and run.ok
            if not run.ok:
                row.append("stopped: " + run.message.splitlines()[0][:60])
                continue
            frame = run.frame()
            off = misfit(frame["points"], lattice())
            inverted = (np.linalg.det(frame["deformation_gradient"].reshape(-1, 3, 3).astype(float)) <= 0).mean()
            row.append(f"{100 * off:.2g} %" + (f", {100 * inverted:.0f} % inverted" if inverted else ""))
            if model != "hencky" or method == "total-lagrangian":
                worst = max(worst, off)
            if state == "flattened":
                flat = max(flat, off)
        rows.append(row)
    result.table(f"Distance from the rest shape after 2 s, part of the edge: {label}", ["let go"] + models, rows,
                 "Should a corner stay caught in the zero-energy modes, a larger penalty frees it. Everything must stay finite." if method == "total-lagrangian" else
                 "The fixtures let go of particles that fly apart at 100 m/s and more. The force of Hencky's law falls beyond a stretch of e, so what "
                 "is blown apart that fast does not return and carries no bound.")
    result.check(f"{label}: degenerate blocks stay finite", float(survived), 1.0, "no state may end in NaN", least=True)
    damped = "the extended laws push particles back to the side they came from; 2 s of damping leave exp(-5) of the motion"
    if more or method == "xpbi":
        laws = "" if method == "total-lagrangian" else " (neo-hookean)"
        result.check(f"{label}: blocks{laws} come back from every state, distance from their shape", 100 * worst, 1.0, damped, unit="%")
    else:
        result.check("flattened block comes back: distance from its shape", 100 * flat, 1.0, damped, unit="%")


MODULUS, NU, DENSITY = 1e5, 0.3, 1000.0
WAVE_SPEED = np.sqrt(MODULUS * (1 - NU) / ((1 + NU) * (1 - 2 * NU)) / DENSITY)  # of pressure waves, 11.6 m/s


def impact_scene(method, speed, model="neo-hookean", **more):
    return {
        "solver": {"method": method, "time_step": 1e-3, "end_time": 0.3, "iterations": 10, **more},
        "materials": {"m": {"density": DENSITY, "elastic": elastic(model, MODULUS, NU)}},
        "bodies": [{"name": "block", "material": "m", "spacing": SPACING, "shape": box([SIZE] * 3), "position": [0.0, 0.0, 0.3],
                    "velocity": [0.3 * speed, 0.0, -float(speed)]}],
        "colliders": [{"shape": {"type": "plane", "normal": [0.0, 0.0, 1.0], "point": [0.0, 0.0, 0.0]}, "friction": 0.3}],
        "output": {"interval": 0.1, "fields": ["deformation_gradient"]},
    }


def impact_variants(context):
    """{label: (method, law, settings)}, the first of each method with its default settings."""
    gradients = ["least-squares"] if context.quick else ["least-squares", "corrected", "mlsrk-linear", "mlsrk-constant", "raw"]
    found = {f"total-lagrangian, {g}": ("total-lagrangian", "neo-hookean", {"gradient": g}) for g in gradients}
    found["xpbi, scalar"] = ("xpbi", "neo-hookean", {})
    if not context.quick:
        found["xpbi, scalar, hencky"] = ("xpbi", "hencky", {})
    found["xpbi, tensor, hencky"] = ("xpbi", "hencky", {"multiplier": "tensor"})
    return found


def volumes_after(run):
    """Volume ratios of the particles at the end, or None if the run stopped or |F| exceeds 1000 somewhere."""
    if not run.ok:
        return None
    F = run.frame()["deformation_gradient"].reshape(-1, 3, 3).astype(float)
    return np.linalg.det(F) if np.linalg.norm(F, axis=(1, 2)).max() < 1e3 else None


def volume_strain(volumes):
    """Largest |ln J|; infinite where a particle has none."""
    return np.inf if volumes is None or volumes.min() <= 0 else np.abs(np.log(volumes)).max()


def impacts(context, result):
    speeds = [3.0, 10.0, 30.0, 300.0] if context.quick else [1.0, 3.0, 7.0, 10.0, 30.0, 100.0, 300.0, 1000.0]
    variants = impact_variants(context)
    runs = context.simulate_all({f"{label}_{v:g}".replace(", ", "_"): impact_scene(method, v, model, **more)
                                 for label, (method, model, more) in variants.items() for v in speeds})
    rows, curves, strains = [], {}, {}
    for label in variants:
        row = [label]
        for v in speeds:
            volumes = volumes_after(runs[f"{label}_{v:g}".replace(", ", "_")])
            strains[label, v] = volume_strain(volumes)
            crushed = np.nan if volumes is None else (volumes < 0.5).mean()
            row.append("stops" if volumes is None else f"{volumes.min():.2f} to {volumes.max():.2f}" + (f", {100 * crushed:.0f} % crushed" if crushed else ""))
            curves.setdefault(label, []).append(np.nan if volumes is None else max(volumes.min(), 1e-4))
        whole = list(takewhile(lambda v: strains[label, v] <= min(v / WAVE_SPEED, np.log(2)), speeds))
        rows.append([*row, f"{whole[-1]:g} m/s" if whole else "none"])
    figure, axis = panels(1)
    for k, (label, values) in enumerate(curves.items()):
        axis.loglog(speeds, values, marker=MARKERS[k], color=COLORS[k], label=label)
    axis.axhline(0.5, color="#888888", linewidth=1, linestyle="--")
    axis.set(xlabel="impact speed [m/s]", ylabel="smallest volume ratio 0.3 s later")
    axis.legend()
    finish(result, figure, "robustness_impact", f"A soft block (wave speed {WAVE_SPEED:.3g} m/s) thrown at the ground; a curve ends where the run stops.")
    result.table("Volume ratios 0.3 s after the impact, by its speed", ["method"] + [f"{v:g} m/s" for v in speeds] + ["whole up to"], rows,
                 "Crushed: less than half of the volume. Stops: the run ends with a message, or |F| exceeds 1000 somewhere. Whole: every volume strain "
                 "within v/c and no particle crushed. Neo-Hookean where no law is named.")
    impact_checks(result, strains, max(v for v in speeds if v < WAVE_SPEED))
    lost = [row[0] for row in rows if row[0].startswith("xpbi") and any("crushed" in str(cell) or cell == "stops" for cell in row[1:-1])]
    if lost:
        result.remark(f"What does not recover: elastic bodies of {'; '.join(lost)} beyond the speeds in the last column of the table. Their particles "
                      "stay crushed, or the run stops. The scalar multiplier takes gradients in the unloaded shape, which no deformation makes "
                      "singular; the others work in the present shape. For bodies that are hit that hard use `multiplier = \"scalar\"`.")


def impact_checks(result, strains, fast):
    """A wave that starts at speed v carries the strain v/c: a whole body cannot hold more of it after it has bounced."""
    origin = "v/c, the strain of the wave that an impact at v starts; after the bounce a part of it is left as vibration"
    for label in ["total-lagrangian, least-squares", "xpbi, scalar"]:
        result.check(f"{label}: largest volume strain after 3 m/s", strains[label, 3.0], 3.0 / WAVE_SPEED, origin)
        result.check(f"{label}: largest volume strain after 30 m/s, 2.6 times the wave speed", strains[label, 30.0], np.log(2),
                     "no particle at less than half or more than twice its volume: the law's extension resists crushing at any speed")
    label = "xpbi, tensor, hencky"
    result.check(f"{label}: largest volume strain after {fast:g} m/s", strains[label, fast], fast / WAVE_SPEED, origin)


# Changes to the scene of a block that hits the ground, and whether they leave a material and a solver that must bear it.
EXTREMES = {
    "nothing": ({}, True),
    "step 20 ms": ({"solver": {"time_step": 0.02}}, True),
    "step 10 us": ({"solver": {"time_step": 1e-5}}, True),
    "one iteration": ({"solver": {"iterations": 1}}, True),
    "200 iterations": ({"solver": {"iterations": 200}}, True),
    "Poisson's ratio 0.49": ({"elastic": {"poisson_ratio": 0.49}}, True),
    "Poisson's ratio -0.5, hencky": ({"elastic": {"poisson_ratio": -0.5, "model": "hencky"}}, True),
    "E = 1e12 Pa": ({"elastic": {"youngs_modulus": 1e12}}, True),
    "density 1e-3": ({"density": 1e-3}, True),
    "jitter 0.45": ({"body": {"jitter": 0.45}}, True),
    "support 1.05": ({"solver": {"smoothing": {"support": 1.05}}}, True),
    "support 4": ({"solver": {"smoothing": {"support": 4.0}}}, True),
    "E = 1 Pa": ({"elastic": {"youngs_modulus": 1.0}}, False),
    "density 1e5": ({"density": 1e5}, False),
    "gravity 1000 m/s^2": ({"world": {"gravity": [0.0, 0.0, -1000.0]}}, False),
    "Poisson's ratio -0.5": ({"elastic": {"poisson_ratio": -0.5}}, False),
}
EXTREME_SPEED, EXTREME_GAP, EXTREME_END = 2.0, 1e-3, 0.1  # m/s, m above the ground, s
BAR_SPEED = np.sqrt(MODULUS / DENSITY)  # 10 m/s


def extreme_scene(context, method, changes):
    """It touches the ground after half a millisecond and leaves it after two crossings of a wave, 60 ms. The quick form follows steps of 10 us
    for one crossing, when the block is pressed together most."""
    scene = impact_scene(method, EXTREME_SPEED)
    scene["bodies"][0]["position"] = [0.0, 0.0, SIZE / 2 + EXTREME_GAP]
    scene["solver"]["end_time"] = EXTREME_END
    scene["solver"].update(changes.get("solver", {}))
    if scene["solver"]["time_step"] < 1e-4 and context.quick:
        scene["solver"]["end_time"] = SIZE / BAR_SPEED
    scene["materials"]["m"]["elastic"].update(changes.get("elastic", {}))
    if "density" in changes:
        scene["materials"]["m"]["density"] = changes["density"]
    scene.update({key: changes[key] for key in ("world",) if key in changes})
    scene["bodies"][0].update(changes.get("body", {}))
    scene["output"]["interval"] = max(scene["solver"]["end_time"] / 10, scene["solver"]["time_step"])
    return scene


def extents(run):
    """Smallest and largest extent along principal axes over all frames, over those of the first: heights and widths, whatever way the block
    turns."""
    sizes = []
    for k in range(len(run.frames())):
        points = run.frame(k)["points"]
        sizes.append(np.linalg.svd(points - points.mean(0), compute_uv=False) if np.isfinite(points).all() else [np.nan] * 3)
    sizes = np.array(sizes) / np.array(sizes[0])
    return sizes.min(), sizes.max()


def extremes(context, result):
    scenes = {f"{m}_{k}": extreme_scene(context, m, changes) for m in METHODS for k, (changes, _) in enumerate(EXTREMES.values())}
    runs = context.simulate_all(scenes)
    rows, silent, strain, falling = [], 0, 0.0, 0.0
    for k, (name, (_, bears)) in enumerate(EXTREMES.items()):
        row = [name, "bounded" if bears else "told"]
        for m in METHODS:
            run = runs[f"{m}_{k}"]
            if not run.ok:
                row.append("stops with a message: " + " ".join(run.message.split())[:90])
                silent += not run.message
                strain = np.inf if bears else strain
                continue
            (least, most), history = extents(run), run.history
            down = history["momentum_z"][-1] / history["momentum_z"][0]  # both negative while it falls
            silent += not np.isfinite(least + most)
            row.append(f"{least:.3f} to {most:.3f}, at last {'rises' if down < 0 else 'falls'} at {abs(down):.2f} of its speed")
            if bears:
                strain, falling = max(strain, 1 - least, most - 1), max(falling, down)
        rows.append(row)
    result.table(f"A block of {SIZE:g} m that hits the ground at {EXTREME_SPEED:g} m/s with one value changed (default: E = 1e5 Pa, nu = 0.3, 1000 kg/m^3, "
                 "1 ms, 10 iterations, Neo-Hookean): its smallest and largest extent over that at rest", ["changed", "", *METHODS], rows,
                 "Extent: along principal axes, as height and width are before it turns, in eleven frames. Told without a bound are bodies that the impact or their weight presses flat: the "
                 "pressure rho v^2 or rho g h exceeds their modulus, or, Neo-Hookean below a Poisson's ratio of zero, the law itself gives way "
                 "(docs/materials.md).")
    result.check("runs that end in NaN or without a word", silent, 0.0, "a run either gives finite results or says why it stopped")
    result.check("extremes: largest change of an extent", strain, EXTREME_SPEED / BAR_SPEED,
                 "v/c, c = sqrt(E/rho): the strain that takes up the energy of the impact; stiffer or lighter bodies change less, and neither steps nor "
                 "iterations nor supports may make them softer")
    result.check("extremes: speed downwards at the end over that of the impact", falling, 9.81 * EXTREME_END / EXTREME_SPEED,
                 "a block has lost the momentum of its impact when a wave has crossed it, after 30 ms; what gravity gives it in the time is left")


def run(context, result):
    models = ["neo-hookean"] if context.quick else ["neo-hookean", "stvk", "hencky", "corotated"]
    for method in METHODS:
        degenerate(context, result, method, [m for m in models if method == "total-lagrangian" or m in ("neo-hookean", "hencky")])
    degenerate(context, result, "total-lagrangian", models, hourglass=0.5)
    impacts(context, result)
    extremes(context, result)
