"""Collapse of granular columns against the published laws of run-out."""

import numpy as np

from suite.plots import COLORS, MARKERS, finish, panels
from suite.result import number
from suite.scene import box, elastic
from suite.shapes import front

TITLE = "Collapse of granular columns"
SHOWS = ("Columns of sand that are suddenly let go spread over the ground. Run-out and final height depend on the aspect ratio alone, by laws "
         "that experiments with many materials agree on. A slope of sand stands or flows by its friction angle, and so does a heap that is let "
         "down slowly.")
ANSWERS = ("experiments of Lube, Huppert, Sparks and Freundt (2004, 2005) and of Lajeunesse, Monnier and Homsy (2005); P1, sand column collapse")
CHECKS = {"quick": 7, "full": 11}  # bounds that each form judges

RADIUS = 0.1
ANGLE = 31.0  # degrees, dry quartz sand of the experiments; `friction_angle` is measured in triaxial compression as well
DENSITY, MODULUS = 1600.0, 1e6
# Every column of a kind has the same number of particles, so that all cost alike and low ones are the finest across their radius: their
# deposits end in a long thin toe.
PARTICLES = {"axisymmetric": 11500, "plane": 4000}
ASPECTS = {"axisymmetric": [0.5, 1.0, 2.0, 4.0, 8.0], "plane": [0.5, 1.0, 2.0, 4.0, 8.0]}
QUICK_PARTICLES = {"axisymmetric": 700, "plane": 2000}
QUICK_ASPECTS = {"axisymmetric": [4.0], "plane": [1.0, 2.0]}
LAYERS = 5  # of particles across the slab of the plane columns


def cells_of(kind, aspect, particles):
    """Particles along the radius or width."""
    return round((4 * particles / (np.pi * aspect))**(1 / 3) if kind == "axisymmetric" else np.sqrt(particles / (LAYERS * aspect)))


def plane_angle(angle):
    """Friction angle in plane flow of the cone that has `angle` in triaxial compression: the middle stress is the mean of the others, so
    that sin(phi) = |dev|/(sqrt(2) p) with |dev| = sqrt(6) 2 sin/(3 - sin) p of the cone."""
    sine = np.sin(np.radians(angle))
    return np.degrees(np.arcsin(np.sqrt(3) * 2 * sine / (3 - sine)))


def matched_angle(angle):
    """The inverse of plane_angle."""
    sine = np.sin(np.radians(angle))
    return float(np.degrees(np.arcsin(3 * sine / (2 * np.sqrt(3) + sine))))


def runout_law(kind, a):
    """(run-out - r0)/r0 of Lube et al. (2004, 2005)."""
    return np.where(a < 1.7, 1.24 * a, 1.6 * np.sqrt(a)) if kind == "axisymmetric" else np.where(a < 2.3, 1.2 * a, 1.9 * a**(2 / 3))


def height_laws(kind, a):
    """height/r0 of Lube et al. (2004, 2005) and of Lajeunesse et al. (2004, 2005)."""
    if kind == "axisymmetric":
        return np.where(a < 1.0, a, 0.88 * a**(1 / 6)), np.minimum(a, 0.74)
    return np.where(a < 1.15, a, 0.65 * a**0.4), np.where(a < 0.7, a, a**(1 / 3))


def smooth_walls(*walls):
    return [{"shape": {"type": "plane", "normal": normal, "point": point}} for normal, point in walls]


def channel(width):
    """Smooth walls at x = 0 and on both sides of a slab."""
    return smooth_walls(([1.0, 0.0, 0.0], [0.0, 0.0, 0.0]), ([0.0, 1.0, 0.0], [0.0, -width / 2, 0.0]), ([0.0, -1.0, 0.0], [0.0, width / 2, 0.0]))


def prism(file, outline, bottom, top, axis):
    """A mesh file: a convex outline, counter-clockwise seen against the axis (1: y, 2: z), between two heights on that axis."""
    count = len(outline)

    def corner(point, height):
        at = list(point)
        at.insert(axis, height)
        return at

    corners = [corner(point, height) for height in (bottom, top) for point in outline]
    sides = [(k, (k + 1) % count) for k in range(count)]
    faces = [(0, k + 1, k) for k in range(1, count - 1)] + [(count, count + k, count + k + 1) for k in range(1, count - 1)]
    faces += [face for a, b in sides for face in ((a, b, b + count), (a, b + count, a + count))]
    outward = faces if axis == 2 else [face[::-1] for face in faces]  # x, z, y are left-handed
    file.write_text("".join(f"v {x} {y} {z}\n" for x, y, z in corners) + "".join(f"f {a + 1} {b + 1} {c + 1}\n" for a, b, c in outward),
                    encoding="utf-8")
    return {"type": "mesh", "file": str(file)}


def lattice_gap(extent, spacing):
    """What a lattice of whole layers leaves free at both ends of an extent: floors and walls stand where it begins, so that nothing falls."""
    return max(0.0, float(extent - round(extent / spacing) * spacing) / 2)


def sand_scene(body, floor_friction, walls, angle, duration, field, step=5e-4, floor=0.0):
    """A body of sand on a floor, which is seen at the start and at the end."""
    return {
        "solver": {"method": "xpbi", "time_step": step, "end_time": float(duration), "iterations": 10, "xsph": 0.0},
        "materials": {"sand": {"density": DENSITY, "elastic": elastic("hencky", MODULUS, 0.3),
                               "plastic": {"model": "drucker-prager", "friction_angle": angle}}},
        "bodies": [{"name": "sand", "material": "sand", **body}],
        "colliders": [{"shape": {"type": "plane", "normal": [0.0, 0.0, 1.0], "point": [0.0, 0.0, floor]}, "friction": floor_friction}, *walls],
        "output": {"interval": float(duration), "fields": [field]},
    }


def step_for(spacing):
    """About one and a half times what a pressure wave takes for a spacing, and 0.5 ms at most."""
    return min(5e-4, float(f"{1.5 * spacing / np.sqrt(1.35 * MODULUS / DENSITY):.1g}"))


def column_scene(context, kind, aspect, cells, angle=ANGLE):
    """A quarter of a cylinder on a rough floor, between the smooth walls that its symmetry puts there, or a slab between smooth walls, open to
    one side. `angle` is that of the sand; the floor's stays."""
    spacing, height = RADIUS / cells, aspect * RADIUS
    width = LAYERS * spacing
    if kind == "axisymmetric":
        arc = np.linspace(0, np.pi / 2, 65)
        outline = [(0.0, 0.0), *zip((RADIUS * np.cos(arc)).tolist(), (RADIUS * np.sin(arc)).tolist())]
        shape, position = prism(context.folder / f"quarter_{aspect:g}.obj", outline, 0.0, height, 2), [0.0, 0.0, 0.0]
        walls, floor = smooth_walls(([1.0, 0.0, 0.0], [0.0, 0.0, 0.0]), ([0.0, 1.0, 0.0], [0.0, 0.0, 0.0])), lattice_gap(height, spacing)
    else:
        shape, position, walls, floor = box([RADIUS, width, height]), [RADIUS / 2, 0.0, height / 2], channel(width), 0.0
    return sand_scene({"spacing": spacing, "shape": shape, "position": position}, float(np.tan(np.radians(ANGLE))), walls, angle,
                      3.5 * np.sqrt(height / 9.81) + 0.15, "volume_ratio", floor=floor)


# ---- slopes

SLOPE, SLOPE_LENGTH = 30.0, 0.5  # degrees, m along the ground
SLOW = 1e-3  # m/s


def rest_range(angle):
    """Slopes [degrees] at which sand of a friction angle in plane flow can come to rest. None is steeper than the angle itself (Coulomb). The
    flow of this model keeps the volume, so that a slip plane is one of largest shear, on which the stress ratio is sin(angle), not
    tan(angle): what slides stops at the slope whose tangent that is, or above (Davis 1968)."""
    return float(np.degrees(np.arctan(np.sin(np.radians(angle))))), float(angle)


def slope_margin(spacing):
    """Degrees that one spacing makes over the length of the slope."""
    return float(np.degrees(np.arctan(spacing * np.cos(np.radians(SLOPE)) / SLOPE_LENGTH)))


def slope_scene(context, angle, spacing, duration):
    """A wedge of sand between smooth walls, on a floor that it cannot slide on; `angle` is its friction angle in plane flow."""
    height, width = SLOPE_LENGTH * np.tan(np.radians(SLOPE)), LAYERS * spacing
    shape = prism(context.folder / f"wedge_{spacing:g}.obj", [(0.0, 0.0), (SLOPE_LENGTH, 0.0), (0.0, height)], -width / 2, width / 2, 1)
    walls = channel(width)
    walls[0]["shape"]["point"][0] = lattice_gap(SLOPE_LENGTH, spacing)
    return sand_scene({"spacing": spacing, "shape": shape}, 2.0, walls, matched_angle(angle), duration, "velocity", step_for(spacing),
                      lattice_gap(height, spacing))


def wedge_angle(run):
    """Slope of the wedge against the wall that has the volume of the first one and the centre of the last: that centre lies at a third of
    its length, so that the tangent goes with the square of its distance."""
    first, last = (run.frame(k)["points"][:, 0].mean() for k in (0, -1))
    return float(np.degrees(np.arctan(np.tan(np.radians(SLOPE)) * (first / last)**2)))


def slope_cases(context):
    """Spacing, duration and friction angles in plane flow."""
    return (0.02, 1.0, [27.5, 39.0]) if context.quick else (0.0125, 2.0, [24.0, 28.5, 33.0, 38.0, 41.0])


def slope_scenes(context):
    spacing, duration, angles = slope_cases(context)
    return {f"slope_{a:g}": slope_scene(context, a, spacing, duration) for a in angles}


def judge_slopes(context, result, runs):
    spacing, duration, angles = slope_cases(context)
    margin = slope_margin(spacing)
    rows, steep, flat, fast = [], -np.inf, -np.inf, 0.0
    for a in angles:
        one, (stops, coulomb) = runs[f"slope_{a:g}"], rest_range(a)
        theory = "stands" if stops >= SLOPE + margin else "flows" if coulomb <= SLOPE - margin else "either"
        if not one.ok:
            rows.append([a, number(matched_angle(a), 3), theory, "stopped", ""])
            steep = flat = np.inf
            continue
        angle, speed = wedge_angle(one), float(np.linalg.norm(one.frame()["velocity"], axis=1).mean())
        if theory == "stands":
            flat, fast = max(flat, SLOPE - angle), max(fast, speed)
        if theory == "flows":
            steep = max(steep, angle - coulomb)
        rows.append([a, number(matched_angle(a), 3), theory, number(angle, 3), number(1000 * speed, 2)])
    result.table(f"A slope of {SLOPE:g} degrees, {SLOPE_LENGTH:g} m long, spacing {1000 * spacing:g} mm, {duration:g} s after gravity is switched on",
                 ["friction angle in plane flow", "friction_angle", "theory", "slope then [degrees]", "mean speed then [mm/s]"], rows,
                 f"Theory: sand flows on slopes steeper than its friction angle (Coulomb) and stands where the tangent is below the sine of that "
                 f"angle (Davis), each by {margin:.2g} degrees or more; between them it may do either. Slope: that of the wedge with the same centre.")
    origin = f"one spacing over the length of the slope makes {margin:.2g} degrees"
    result.check("slopes that must stand: degrees that one has lost", flat, margin, "below the sine of the friction angle sand stands whatever its "
                 f"flow rule (Davis 1968); {origin}", unit="degrees")
    result.check("slopes that must stand: mean speed at the end", 1000 * fast, 1000 * SLOW, "at rest; slower than a spacing in ten seconds", unit="mm/s")
    result.check("slopes that must flow: degrees above the friction angle at the end", steep, margin,
                 f"no slope steeper than its friction angle stands (Coulomb); {origin}", unit="degrees")


# ---- a heap that is let down slowly

HEAP, RETREAT, HEAP_LAYERS = 0.2, 0.1, 6  # m, m/s, particles across
DRAG = 40.0  # 1/s: the momentum of a slide is gone after g/DRAG^2 = 6 mm, less than a spacing, times the excess of its slope


def slide_range(angle):
    """As rest_range for sand that slides with its momentum. It starts at its friction angle at most and passes the slope at which its friction
    balances its weight: what it gains above that slope it loses below, so that the tangents of start and stop have that of rest as mean."""
    stops, coulomb = (np.tan(np.radians(a)) for a in rest_range(angle))
    return float(np.degrees(np.arctan(2 * stops - coulomb))), float(angle)


def heap_scene(angle, spacing, drag):
    """A square of sand between smooth walls, of which one retreats. The deposit is a triangle at last; the run ends when the wall has been
    0.3 s beyond the longest one of the theory, with drag 2 s, because it slows the sand."""
    width = HEAP_LAYERS * spacing
    longest = np.sqrt(2 * HEAP**2 / np.tan(np.radians(rest_range(angle)[0])))
    duration = round(float((longest - HEAP) / RETREAT + (2.0 if drag else 0.3)), 2)
    wall = {"shape": {"type": "plane", "normal": [-1.0, 0.0, 0.0], "point": [HEAP, 0.0, 0.0]}, "motion": {"velocity": [RETREAT, 0.0, 0.0]}}
    scene = sand_scene({"spacing": spacing, "shape": box([HEAP, width, HEAP]), "position": [HEAP / 2, 0.0, HEAP / 2]}, 1.0,
                       [*channel(width), wall], matched_angle(angle), duration, "velocity", step_for(spacing))
    scene["solver"]["damping"] = drag
    return scene


def surface_slope(points, spacing):
    """Height of a deposit at the wall x = 0, and the slope [degrees] of its surface between a quarter and three quarters of that. The surface:
    top particles over squares of one spacing along the slope and two across, on average across."""
    columns, rows = np.floor(points[:, 0] / spacing).astype(int), np.floor(points[:, 1] / (2 * spacing)).astype(int)
    at, heights = [], []
    for column in np.unique(columns):
        own = columns == column
        at.append((column + 0.5) * spacing)
        heights.append(np.mean([points[own & (rows == row), 2].max() for row in np.unique(rows[own])]) + spacing / 2)
    at, heights = np.array(at), np.array(heights)
    height = heights[:2].mean()
    middle = (heights > height / 4) & (heights < 3 * height / 4)
    return height, float(np.degrees(np.arctan(-np.polyfit(at[middle], heights[middle], 1)[0]))) if middle.sum() > 2 else np.nan


def heap_cases(context):
    """Spacings, friction angles in plane flow, that of the sand and what its cone has there, and drag; the full form has them, which takes
    long."""
    steep = float(plane_angle(ANGLE))
    return [] if context.quick else [(0.01, ANGLE, DRAG), (0.01, steep, DRAG), (0.01, ANGLE, 0.0), (0.01, steep, 0.0)]


def heap_scenes(context):
    return {heap_name(*case): heap_scene(case[1], case[0], case[2]) for case in heap_cases(context)}


def heap_name(spacing, angle, drag):
    return f"heap_{angle:.3g}_{1000 * spacing:.3g}mm" + ("_drag" if drag else "")


def judge_heaps(context, result, runs):
    cases = heap_cases(context)
    if not cases:
        return
    rows = []
    for spacing, a, drag in cases:
        one, (flattest, steepest) = runs[heap_name(spacing, a, drag)], (rest_range if drag else slide_range)(a)
        height, slope = surface_slope(one.frame()["points"], spacing) if one.ok else (HEAP, np.nan)
        speed = float(np.linalg.norm(one.frame()["velocity"], axis=1).mean()) if one.ok else np.nan
        margin = float(np.degrees(spacing / (height / 2) * np.sin(2 * np.radians(flattest)) / 2))
        rows.append(["drag" if drag else "momentum", *(number(v, d) for v, d in (
            (1000 * spacing, 3), (a, 3), (matched_angle(a), 3), (flattest, 3), (steepest, 3), (slope, 3), (margin, 2), (height, 3), (1000 * speed, 2)))])
        why = (f"it rests between {flattest:.3g} degrees, whose tangent is the sine of the friction angle (Davis 1968), and that angle (Coulomb)" if drag else
               f"what it gains above the slope of rest it loses below: it stops between {flattest:.3g} degrees and its friction angle")
        result.check(f"slow heap{', without momentum' if drag else ''}, {a:.3g} degrees in plane flow, spacing {1000 * spacing:.3g} mm: degrees by which its "
                     "slope is flatter or steeper than theory", max(0.0, flattest - slope, slope - steepest) if one.ok else np.inf, margin,
                     f"{why}; one spacing over the half of its height where the slope is measured is not resolved", unit="degrees")
    result.table(f"A square of {HEAP:g} m of sand whose wall retreats at {RETREAT:g} m/s",
                 ["", "spacing [mm]", "friction angle in plane flow", "friction_angle", "flattest [degrees]", "steepest", "slope", "one spacing makes",
                  "height [m]", "mean speed [mm/s]"], rows,
                 f"Drag: `damping = {DRAG:g}`, so that slides have no momentum, as the theory of a slope at rest assumes; its flattest slope has the sine "
                 "of the friction angle in plane flow as tangent, sin = 3 alpha/sqrt(2) for the cone |dev tau| <= 3 alpha p. Momentum: slides pass that slope. "
                 "Steepest: the friction angle. Slope: of the surface between a quarter and three quarters of its height.")
    result.remark("Heaps that are let down slowly slide in surges, whose momentum carries them to slopes a few degrees below that at which sand without "
                  "momentum rests. With drag they stop within what particles resolve of that slope.")


def crest(points, distance, spacing):
    """Height at the axis or wall: of the top particles over squares of two spacings, on average over two spacings around. (A quantile over
    a third of the radius reads the cone of an axisymmetric heap a tenth of the radius too low.)"""
    near = points[distance < 2 * spacing]
    squares = np.floor(near[:, :2] / (2 * spacing)).astype(int)
    tops = [near[(squares == square).all(1), 2].max() for square in np.unique(squares, axis=0)]
    return np.mean(tops) + spacing / 2 if tops else 0.0


def measured(run, kind, spacing, aspect):
    """Run-out and height over the initial radius or width."""
    points = run.frame()["points"]
    volume = aspect * RADIUS / len(points) * (np.pi / 4 * RADIUS**2 if kind == "axisymmetric" else LAYERS * spacing * RADIUS)
    if kind == "axisymmetric":
        distance = np.hypot(points[:, 0], points[:, 1])
        edge = front(distance, volume, spacing, lambda a, b: np.pi / 4 * (b**2 - a**2))
    else:
        distance = points[:, 0]
        edge = front(distance, volume, spacing, lambda a, b: LAYERS * spacing * (b - a))
    return (edge - RADIUS) / RADIUS, crest(points, distance, spacing) / RADIUS


def outside(value, laws):
    """How far a value lies above the highest or below the lowest of the laws, as a part of that one."""
    return value / float(np.clip(value, min(laws), max(laws))) - 1


def percent(value, law):
    return number(100 * (value / law - 1), 3)


def weaker_cone(result, runs, cells):
    """Why plane heaps stay high: the same columns with a cone that has the sand's angle in plane flow."""
    rows = []
    for a, run in runs.items():
        if run.ok:
            runout, height = measured(run, "plane", RADIUS / cells[a], a)
            lube, other = (float(h) for h in height_laws("plane", a))
            rows.append([a, number(runout, 3), percent(runout, float(runout_law("plane", a))), number(height, 3), percent(height, lube),
                         percent(height, other)])
    result.table(f"Plane columns, cone of {matched_angle(ANGLE):.3g} degrees, which is {ANGLE:g} degrees in plane flow",
                 ["aspect ratio", "run-out", "off Lube [%]", "height", "off Lube [%]", "off Lajeunesse [%]"], rows,
                 "No bound: heights come down to the lower law, but the sand runs out too far. One angle does not serve both.")


def run(context, result):
    particles, aspects = (QUICK_PARTICLES, QUICK_ASPECTS) if context.quick else (PARTICLES, ASPECTS)
    cells = {kind: {a: cells_of(kind, a, particles[kind]) for a in aspects[kind]} for kind in aspects}
    scenes = {f"{kind}_{a:g}": column_scene(context, kind, a, cells[kind][a]) for kind in cells for a in reversed(aspects[kind])}
    weaker = [] if context.quick else [2.0]
    scenes.update({f"weaker_{a:g}": column_scene(context, "plane", a, cells["plane"][a], matched_angle(ANGLE)) for a in weaker})
    scenes = {**heap_scenes(context), **scenes, **slope_scenes(context)}
    runs = context.simulate_all(scenes)
    figure, axes = panels(2)
    for n, kind in enumerate(cells):
        rows, off, off_height, spread, heights = [], [], [], [], []
        for a in aspects[kind]:
            one = runs[f"{kind}_{a:g}"]
            expected, laws = float(runout_law(kind, a)), [float(h) for h in height_laws(kind, a)]
            runout, height = measured(one, kind, RADIUS / cells[kind][a], a) if one.ok else (np.nan, np.nan)
            off.append(abs(runout / expected - 1) if one.ok else np.inf)
            off_height.append(abs(outside(height, laws)) if one.ok else np.inf)
            spread.append(runout)
            heights.append(height)
            rows.append([a, cells[kind][a], *([number(runout, 3), number(expected, 3), percent(runout, expected), number(height, 3)] if one.ok else
                                              ["stopped", number(expected, 3), "", ""]), *(number(h, 3) for h in laws),
                         number(100 * outside(height, laws), 3) if one.ok else ""])
        fine = np.geomspace(0.4, 9, 80)
        axes[0].loglog(fine, runout_law(kind, fine), color=COLORS[n], label=f"{kind}, Lube et al.")
        axes[0].loglog(aspects[kind], spread, marker=MARKERS[n], linestyle="", color=COLORS[n], label=f"{kind}, xpbi")
        for law, style, author in zip(height_laws(kind, fine), ("-", "--"), ("Lube", "Lajeunesse")):
            axes[1].loglog(fine, law, color=COLORS[n], linestyle=style, label=f"{kind}, {author} et al.")
        axes[1].loglog(aspects[kind], heights, marker=MARKERS[n], linestyle="", color=COLORS[n])
        result.table(f"Columns, {kind}, sand of {ANGLE:g} degrees, {particles[kind]} particles each",
                     ["aspect ratio", "particles across", "run-out", "Lube", "deviation [%]", "height", "Lube", "Lajeunesse", "outside of these [%]"],
                     rows, "Run-out (r - r0)/r0 and height h/r0. Runs with 0.5 ms, 10 Gauss-Seidel iterations, E = 1e6 Pa, no XSPH.")
        result.check(f"run-out, {kind}: largest deviation from the experiments", 100 * max(off), 20.0,
                     "scatter of the experiments over materials", unit="%")
        result.check(f"height, {kind}: farthest outside of the published laws", 100 * max(off_height), 20.0,
                     "the laws of Lube et al. and Lajeunesse et al. differ by up to a third (plane) and two thirds (axisymmetric); beyond them the "
                     "scatter over materials, as for run-out", unit="%")
    judge_slopes(context, result, runs)
    judge_heaps(context, result, runs)
    if weaker:
        weaker_cone(result, {a: runs[f"weaker_{a:g}"] for a in weaker}, cells["plane"])
    axes[0].set(xlabel="aspect ratio", ylabel="run-out / initial radius or width")
    axes[1].set(xlabel="aspect ratio", ylabel="final height / initial radius or width")
    for axis in axes:
        axis.legend(fontsize=8)
    result.remark("Resolution: all columns of a kind have the same number of particles, because they then cost alike; with the same number across the "
                  "radius the tallest would cost sixteen times the lowest. Coarser particles run out less: they cannot show the thin toe of a deposit. "
                  "Of axisymmetric columns a quarter is simulated, between the smooth walls that their symmetry puts there.")
    result.remark(f"Plane heaps stay well above the law of Lube et al. and near that of Lajeunesse et al. The cone that has {ANGLE:g} degrees in triaxial "
                  f"compression has {plane_angle(ANGLE):.3g} in plane flow. A cone that has {ANGLE:g} degrees there ends a fifth above Lube's heights but runs "
                  "out too far by half (full form, aspect ratio 2), because nothing else stops the sand: the side walls are smooth here, those of the channels "
                  "are not. Balmforth and Kerswell (2005) find a^0.4 in wide channels and a^0.5 in narrow slots for the height, and constants that "
                  "depend on the material. How the crest is read changes plane heights by 4 % at most.")
    finish(result, figure, "column", "Run-out and final height of collapsed columns; lines: laws fitted to experiments.")
