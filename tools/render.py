"""Draws the particles of a result folder as lit spheres, and the scene's colliders: a picture, a row of pictures or a video. Needs no
display."""

import argparse
import contextlib
import ctypes
import hashlib
import io
import json
import math
import os
import re
import subprocess
import sys
import textwrap
import tomllib
import xml.etree.ElementTree as ElementTree
from pathlib import Path

if not os.environ.get("DISPLAY"):
    # VTK tries X first and complains; EGL draws without a display, and VTK falls back to software where EGL is missing.
    os.environ.setdefault("VTK_DEFAULT_OPENGL_WINDOW", "vtkEGLRenderWindow")

import imageio_ffmpeg
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pyvista
from matplotlib.colors import Normalize, TwoSlopeNorm
from matplotlib.ticker import EngFormatter
from PIL import Image
from scipy.ndimage import gaussian_filter
from scipy.spatial import cKDTree
from vtkmodules.vtkCommonCore import reference
from vtkmodules.vtkCommonDataModel import vtkStaticCellLocator
from vtkmodules.vtkRenderingOpenGL2 import vtkOpenGLSphereMapper

UNITS = {"velocity": "m/s", "cauchy_stress": "Pa", "von_mises_stress": "Pa"}
COMPONENTS = {3: ["x", "y", "z"], 9: [a + b for a in "xyz" for b in "xyz"]}
DIRECTIONS = {"iso": (0.6, -1.0, 0.45), "front": (0, -1, 0), "side": (1, 0, 0), "top": (0, -0.001, 1)}
VIEW_ANGLE = 25.0  # degrees, vertical
SURVEYED_FRAMES = 24  # camera and colours come from this many frames of a run, whatever its length
SURVEYED_POINTS = 20_000  # and from this many particles of each
SIGHT_LINES = 150  # per surveyed frame, which tell what a collider hides
ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = """examples:
  tools/render results/first_light                                  the last frame, coloured by stress
  tools/render results/first_light --video --ground                 results/first_light/video.mp4
  tools/render results/first_light --video ring.gif --size 480x360
  tools/render results/first_light --field velocity.z --frame 12 --camera front
  tools/render results/first_light --sheet 6 --ground --size 400x400
  tools/render results/mine --scene mine.toml                       where the scene is not found by its name
"""
SUPERSAMPLING = 2  # spheres are drawn in a shader, which multisampling does not smooth


class UserError(Exception):
    """Something the user can put right; main prints it and returns 2."""


class Run:
    """Frames of a result folder; reads only the arrays asked for."""

    def __init__(self, folder):
        collection = folder / "particles.pvd"
        if not folder.is_dir():
            raise UserError(f"no folder {folder}")
        if not collection.is_file():
            raise UserError(f"{folder} is not a result folder: particles.pvd is missing")
        try:
            datasets = ElementTree.parse(collection).iter("DataSet")
            self.frames = [(float(d.get("timestep")), folder / d.get("file")) for d in datasets]
        except (ElementTree.ParseError, TypeError, ValueError) as error:
            raise UserError(f"{collection} is damaged: {error}") from error
        if not self.frames:
            raise UserError(f"{collection} lists no frames yet")
        self.fields = list(self._reader(0).point_array_names)
        if not self.fields:
            raise self._damaged(0)

    def _damaged(self, frame):
        return UserError(f"frame {frame} is damaged: put back {self.frames[frame][1]}, or run the scene again with --force")

    def _reader(self, frame):
        path = self.frames[frame][1]
        if not path.is_file():
            raise UserError(f"frame {frame} is missing: {path}")
        return pyvista.get_reader(path)

    def components(self, field):
        values = self.read(0, [field])[1][field]
        return 1 if values.ndim == 1 else values.shape[1]

    def read(self, frame, fields):
        """Positions and the named arrays, without particles whose position is not finite."""
        reader = self._reader(frame)
        reader.disable_all_point_arrays()
        for name in fields:
            reader.enable_point_array(name)
        try:
            mesh = reader.read()
            values = {name: np.asarray(mesh.point_data[name]) for name in fields}
        except (RuntimeError, KeyError) as error:
            raise self._damaged(frame) from error
        points = np.asarray(mesh.points, dtype=float)
        good = np.isfinite(points).all(axis=1)
        return points[good], {name: numbers[good] for name, numbers in values.items()}


class Quantity:
    """What the colours show: an array of the result, or one component of it (velocity.z, cauchy_stress.xx)."""

    def __init__(self, name, run):
        self.array, _, component = name.partition(".")
        if self.array not in run.fields:
            raise UserError(f"no field {self.array}; this run has: {', '.join(run.fields)}")
        count = run.components(self.array)
        known = COMPONENTS.get(count, [])
        if component and component not in known:
            expected = f"expected one of {', '.join(known)}" if known else "it has no components"
            raise UserError(f"--field {name}: {expected}")
        self.component = known.index(component) if component else None
        self.title = self.array.replace("_", " ") + (f" {component}" if component else " magnitude" if count > 1 else "")
        self.unit = UNITS.get(self.array)

    def of(self, values):
        """Vectors by magnitude, tensors by Frobenius norm, unless one component was chosen."""
        values = np.asarray(values, dtype=float)
        if self.component is not None:
            return values[:, self.component]
        return values if values.ndim == 1 else np.linalg.norm(values, axis=1)


def turned(axis, angle):
    """Rotation matrix (Rodrigues)."""
    length = np.linalg.norm(axis)
    if length == 0 or angle == 0:
        return np.eye(3)
    x, y, z = np.array(axis, float) / length
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross


def off_surface(path):
    """An OFF file, which VTK does not read."""
    words = [word for line in path.read_text().splitlines() for word in line.split("#")[0].split()]
    counts, numbers_ = [int(word) for word in words[1:4]], words[4:]
    points = np.array(numbers_[: 3 * counts[0]], float).reshape(-1, 3)
    faces, at = [], 3 * counts[0]
    for _ in range(counts[1]):
        size = int(numbers_[at])
        faces += [int(word) for word in numbers_[at : at + 1 + size]]
        at += 1 + size
    return pyvista.PolyData(points, faces)


def surface_of(shape, folder):
    """A collider's surface about its own centre, its axis along z; None for a plane."""
    kind = shape["type"]
    if kind == "box":
        x, y, z = shape["size"]
        return pyvista.Cube(x_length=x, y_length=y, z_length=z)
    if kind == "sphere":
        return pyvista.Sphere(radius=shape["radius"], theta_resolution=72, phi_resolution=72)
    if kind == "cylinder":
        return pyvista.Cylinder(direction=(0, 0, 1), radius=shape["radius"], height=shape["height"], resolution=96)
    if kind == "capsule":
        return pyvista.Capsule(direction=(0, 0, 1), radius=shape["radius"], cylinder_length=shape["height"], resolution=72)
    if kind == "torus":
        return pyvista.ParametricTorus(ringradius=shape["radius"], crosssectionradius=shape["tube"], u_res=120, v_res=60, w_res=2)
    if kind == "mesh":
        path = folder / shape["file"]
        mesh = off_surface(path) if path.suffix.lower() == ".off" else pyvista.read(path).extract_surface(algorithm="dataset_surface")
        return mesh.scale(shape.get("scale", 1.0), inplace=False)
    return None


class Obstacle:
    """A collider of the scene: its surface at the start, and how it moves."""

    def __init__(self, collider, folder):
        shape, motion = collider["shape"], collider.get("motion", {})
        self.inside, self.plane = collider.get("inside", False), shape["type"] == "plane"
        self.velocity, self.spin, self.about = (np.array(motion.get(key, [0, 0, 0]), float) for key in ("velocity", "angular_velocity", "about"))
        self.moves = bool(self.velocity.any() or self.spin.any())
        if self.plane:
            normal = np.array(shape.get("normal", [0, 0, 1]), float)
            self.normal, self.point = normal / np.linalg.norm(normal), np.array(shape.get("point", [0, 0, 0]), float)
            return
        turn = collider.get("rotation", shape.get("rotation", {"axis": [0, 0, 1], "degrees": 0}))
        self.place = np.eye(4)
        self.place[:3, :3] = turned(turn["axis"], np.radians(turn["degrees"]))
        self.place[:3, 3] = collider.get("position", shape.get("position", [0, 0, 0]))
        self.shape = surface_of(shape, folder)
        self.surface = self.shape.transform(self.place, inplace=False)
        self.sharp = shape["type"] in ("box", "cylinder")

    def at(self, time):
        """From where its points are at the start to where they are at a time."""
        matrix = np.eye(4)
        matrix[:3, :3] = turned(self.spin, np.linalg.norm(self.spin) * time)
        matrix[:3, 3] = self.about + self.velocity * time - matrix[:3, :3] @ self.about
        return matrix

    def is_floor(self):
        return self.plane and not self.moves and self.normal[2] > 0.999

    def patch(self, points):
        """The part of a plane below or beside the points, and a little more."""
        across = np.cross(self.normal, [0, 0, 1] if abs(self.normal[2]) < 0.9 else [0, 1, 0])
        across /= np.linalg.norm(across)
        sides = np.array([across, np.cross(self.normal, across)])
        along = (points - self.point) @ sides.T
        low, high = along.min(axis=0), along.max(axis=0)
        margin = (0.1 if abs(self.normal[2]) > 0.9 else 0.03) * max(high - low)  # walls end where the particles do
        low, high = low - margin, high + margin
        corners = [(low[0], low[1]), (high[0], low[1]), (high[0], high[1]), (low[0], high[1])]
        quad = pyvista.PolyData(np.array([self.point + a * sides[0] + b * sides[1] for a, b in corners]), [4, 0, 1, 2, 3])
        facing = np.cross(sides[0], sides[1]) @ self.normal > 0
        return quad if facing else quad.flip_faces()

    def hidden(self, eye, clouds, times):
        """For every surveyed frame, of some of its particles: behind the surface as seen from the eye, and of these, within its bounds, where a
        hole leads through it."""
        cells = vtkStaticCellLocator()
        cells.SetDataSet(self.shape.triangulate())
        cells.BuildLocator()
        part, at, place, number = reference(0.0), [0.0] * 3, [0.0] * 3, reference(0)
        bounds = np.reshape(self.shape.bounds, (3, 2))
        behind, within = [], []
        for points, time in zip(clouds, times, strict=True):
            back = np.linalg.inv(self.at(time) @ self.place)
            start = back[:3, :3] @ eye + back[:3, 3]
            points = pick(points, SIGHT_LINES) @ back[:3, :3].T + back[:3, 3]
            behind.append(np.array([cells.IntersectWithLine(start, p, 0.0, part, at, place, number) != 0 for p in points], bool))
            within.append(behind[-1] & ((points > bounds[:, 0]) & (points < bounds[:, 1])).all(axis=1))
        return behind, within


def glass(obstacles, eye, clouds, times):
    """Those that are drawn as glass: containers, what particles run through, and all, if together they hide many."""
    solid = [obstacle for obstacle in obstacles if not obstacle.plane and not obstacle.inside]
    seen = {obstacle: obstacle.hidden(eye, clouds, times) for obstacle in solid}

    def largest(parts):
        return max((part.mean() for part in parts if len(part)), default=0.0)

    found = {obstacle for obstacle in obstacles if obstacle.inside} | {o for o, (_, within) in seen.items() if largest(within) > 0.05}
    together = [np.logical_or.reduce(frame) for frame in zip(*(behind for behind, _ in seen.values()), strict=True)]
    return found | set(solid) if largest(together) > 0.3 else found


def find_scene(folder, named):
    """The scene file of a result: the one that was named, or one with the bytes that run.json knows, near the result or among the shipped."""
    if named:
        if not named.is_file():
            raise UserError(f"--scene {named}: there is no such file")
        return named
    try:
        known = json.loads((folder / "run.json").read_text(encoding="utf-8"))
        name, digest = known["scene"], known["scene_sha256"]
    except (OSError, ValueError, KeyError):
        return None
    places = [folder, *folder.resolve().parents, Path.cwd(), ROOT / "scenes", ROOT / "scenes" / "small"]
    for path in (place / name for place in places):
        if path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == digest:
            return path
    return None


STEP = re.compile(r'\.?(?:"([^"]+)"|([^.\[\]"]+))|\[(\d+)\]')


def apply_override(scene, text):
    """Changes a scene as `--set PATH=VALUE` did; its lists are walked through by index or name."""
    path, value = re.match(r'((?:[^="]|"[^"]*")*)=(.*)', text, re.DOTALL).groups()
    steps = [int(index) if index else quoted or bare.strip() for quoted, bare, index in STEP.findall(path.strip())]
    try:
        value = tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        value = value.strip()  # a bare word
    here = scene
    for k, step in enumerate(steps):
        if isinstance(here, list) and isinstance(step, str):
            names = [element.get("name", f"collider{i + 1}") for i, element in enumerate(here)]
            step = names.index(step) if step in names else int(step)
        if k + 1 == len(steps):
            here[step] = value
        else:
            here = here[step] if isinstance(here, list) else here.setdefault(step, {})


def overrides_of(folder):
    """The values of --set that change colliders; results of earlier versions do not tell theirs."""
    try:
        known = json.loads((folder / "run.json").read_text(encoding="utf-8")).get("overrides", [])
    except (OSError, ValueError, AttributeError):
        return []
    return [text for text in known if text.lstrip().startswith("colliders")]


def read_obstacles(folder, named):
    """The colliders of a result's scene, with the values that --set gave them."""
    path = find_scene(folder, named)
    if path is None:
        print("tools/render: the scene of this result was not found, so its colliders are not drawn; name it with --scene FILE", file=sys.stderr)
        return []
    try:
        scene = tomllib.loads(path.read_text(encoding="utf-8"))
        for text in overrides_of(folder):
            apply_override(scene, text)
        return [Obstacle(collider, path.parent) for collider in scene.get("colliders", [])]
    except (tomllib.TOMLDecodeError, LookupError, AttributeError, TypeError, ValueError, OSError) as error:
        raise UserError(f"the colliders of {path} can't be read: {error}") from error


def pick(rows, count):
    """At most `count` of the rows, evenly spread."""
    return rows[:: max(1, -(-len(rows) // count))]


def sphere_radii(points, bodies):
    """Radius for each body: a little over half its spacing at the start, so that a lattice looks closed."""
    radii = np.full(bodies.max(initial=0) + 1, np.nan)
    for body in np.unique(bodies):
        own = points[bodies == body]
        if len(own) > 1:
            radii[body] = 0.58 * np.median(cKDTree(own).query(pick(own, SURVEYED_POINTS), k=2)[0][:, 1])
    known = radii[np.isfinite(radii)]
    return np.where(np.isfinite(radii), radii, np.median(known) if len(known) else 0.01)


def grown(first, last):
    return np.where(last > 2 * first, last, first)


class Survey:
    """What all pictures of a run share: where the particles go, how large they are, how their values range."""

    def __init__(self, run, quantity, colour_range, colour_map, obstacles):
        last = len(run.frames) - 1
        chosen = np.unique(np.linspace(0, last, min(SURVEYED_FRAMES, last + 1)).round().astype(int))
        has_body = "body" in run.fields
        clouds, values, self.floor = [], [], np.inf
        for frame in chosen:
            points, data = run.read(frame, [quantity.array])
            if frame in (0, last):
                bodies = run.read(frame, ["body"])[1]["body"] if has_body else np.zeros(len(points), int)
                radii = sphere_radii(points, bodies)
                # A body that starts crushed has its own spacing only in the end.
                self.radii = radii if frame == 0 or len(radii) != len(self.radii) else grown(self.radii, radii)
            self.floor = min(self.floor, points[:, 2].min(initial=np.inf))
            clouds.append(pick(points, SURVEYED_POINTS))
            values.append(pick(quantity.of(data[quantity.array]), SURVEYED_POINTS))
        self.points = np.concatenate(clouds)
        if not len(self.points):
            raise UserError("the run has no particles with finite positions")
        self.clouds, self.times = clouds, [run.frames[frame][0] for frame in chosen]
        self.obstacles = obstacles
        self.seen = np.concatenate([self.points, *self._near_obstacles()])
        values = np.concatenate(values)
        values = values[np.isfinite(values)]
        self.norm, self.colours = colour_scale(quantity, values if len(values) else np.zeros(1), colour_range)
        if colour_map:
            self.colours = matplotlib.colormaps[colour_map]


    def _near_obstacles(self):
        """Corners of colliders that belong into the picture: not those that are much larger than all that moves, nor far away."""
        lowest, highest = self.points.min(axis=0), self.points.max(axis=0)
        size = np.linalg.norm(highest - lowest)
        for obstacle in self.obstacles:
            if obstacle.plane or obstacle.surface.length > 1.5 * size:
                continue
            for time in {self.times[0], self.times[-1]}:
                place = obstacle.at(time)
                corners = np.asarray(obstacle.surface.outline().points) @ place[:3, :3].T + place[:3, 3]
                gap = np.maximum(0, np.maximum(lowest - corners.max(axis=0), corners.min(axis=0) - highest))
                if np.linalg.norm(gap) < 0.25 * size:
                    yield corners


def balanced(low, high, middle):
    """Both sides of the middle in colours of their own, the same distance in the same strength."""
    reach = max(middle - low, high - middle)
    return TwoSlopeNorm(middle, middle - reach, middle + reach), matplotlib.colormaps["coolwarm"]


def colour_scale(quantity, values, colour_range):
    if quantity.array == "body":
        return None, matplotlib.colormaps["tab10"]
    # The few most stressed particles of a corner must not turn the rest of the body into one colour.
    low, high = colour_range or np.percentile(values, [0.2, 99.8])
    if high <= low:
        high = low + max(abs(low), 1.0) * 1e-6
    if quantity.array == "volume_ratio" and low < 1 < high:
        return balanced(low, high, 1)
    if quantity.component is not None and low < 0 < high:
        return balanced(low, high, 0)
    if colour_range is None and low >= 0:
        low = 0
    return Normalize(low, high), matplotlib.colormaps["Spectral_r"]


def colours_of(survey, values):
    if survey.norm is None:
        rgb = survey.colours(values.astype(int) % 10)[:, :3]
    else:
        rgb = survey.colours(survey.norm(values))[:, :3]
        rgb[~np.isfinite(values)] = 0.5
    return (255 * rgb).astype(np.uint8)


def fitted_camera(points, margin, direction, aspect):
    """Position, focus and up of the camera that sees all points from this direction."""
    back = np.array(direction, float) / np.linalg.norm(direction)
    right = np.cross([0, 0, 1], back)
    right /= np.linalg.norm(right)
    up = np.cross(back, right)
    tangent = np.tan(np.radians(VIEW_ANGLE) / 2) * 0.88  # the rest is the margin of the picture
    x, y, z = points @ right, points @ up, points @ back
    # Narrowest cone around the points for each axis of the picture: its two sides meet at (centre, distance).
    distance, centre = [], []
    for along, slope in ((x, tangent * aspect), (y, tangent)):
        upper, lower = (along + slope * z).max() + margin, (along - slope * z).min() - margin
        distance.append((upper - lower) / (2 * slope))
        centre.append((upper + lower) / 2)
    focus = centre[0] * right + centre[1] * up + np.mean(z) * back
    return focus + (max(distance) - np.mean(z)) * back, focus, up


def camera_from(text, survey, aspect, ground):
    if text in DIRECTIONS:
        shadow = survey.points * (1, 1, 0) + (0, 0, survey.floor)
        seen = np.concatenate([survey.seen, shadow]) if ground else survey.seen
        return fitted_camera(seen, survey.radii.max(), DIRECTIONS[text], aspect)
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) not in (3, 6) or not all(map(math.isfinite, numbers)):
        raise UserError(f"--camera {text}: expected {', '.join(DIRECTIONS)}, x,y,z or x,y,z,focus_x,focus_y,focus_z")
    lowest, highest = survey.points.min(axis=0), survey.points.max(axis=0)
    position, focus = np.array(numbers[:3]), np.array(numbers[3:] or (lowest + highest) / 2)
    if np.allclose(position, focus):
        raise UserError(f"--camera {text}: position and focus are the same point")
    steep = np.allclose(np.cross(position - focus, [0, 0, 1]), 0)
    return position, focus, (0, 1, 0) if steep else (0, 0, 1)


class Stage:
    """One off-screen window, used for all pictures."""

    def __init__(self, survey, size, camera, ground):
        self.survey, self.size, self.ground = survey, size, ground
        self.plotter = pyvista.Plotter(
            off_screen=True, window_size=[SUPERSAMPLING * n for n in size], lighting="light kit"
        )
        self.plotter.set_background("white")
        self.mapper = vtkOpenGLSphereMapper()
        self.mapper.SetScaleArray("radius")
        self.mapper.SetScalarModeToUsePointFieldData()
        self.mapper.SelectColorArray("colour")
        self.mapper.SetColorModeToDirectScalars()
        actor = pyvista.Actor()
        actor.SetMapper(self.mapper)
        actor.prop.ambient, actor.prop.diffuse = 0.25, 0.8  # the dark end of a colour map still shows its shape
        self.plotter.add_actor(actor, reset_camera=False)
        self.plotter.camera.position, self.plotter.camera.focal_point, self.plotter.camera.up = camera
        self.plotter.camera.view_angle = VIEW_ANGLE
        self.floor = next((float(o.point[2]) for o in survey.obstacles if o.is_floor()), None)
        clear = glass(survey.obstacles, np.array(camera[0], float), survey.clouds, survey.times)
        self.actors = [(obstacle, actor) for obstacle in survey.obstacles for actor in self._obstacle(obstacle, obstacle in clear)]

    def _obstacle(self, obstacle, clear):
        """What is solid is grey; what holds particles in, or hides them, is glass: its far side and its edges. Planes are seen from their free
        side only."""
        look = {"smooth_shading": True, "split_sharp_edges": True, "reset_camera": False}
        if obstacle.plane:
            if self.ground and obstacle.is_floor():
                return []  # the ground is drawn there, with shadows
            shade = "#e9ecef" if obstacle.normal[2] > 0.9 else "#eef1f4"
            return [self.plotter.add_mesh(obstacle.patch(self.survey.seen), color=shade, lighting=False, culling="back", reset_camera=False)]
        if not clear:
            return [self.plotter.add_mesh(obstacle.surface, color="#b7c0c8", ambient=0.45, diffuse=0.6, specular=0.1, **look)]
        actors = []
        if obstacle.inside:
            actors.append(self.plotter.add_mesh(obstacle.surface, color="#eef1f4", ambient=0.8, diffuse=0.25, culling="front", **look))
        opacity = 0.1 if obstacle.sharp else 0.25
        actors.append(self.plotter.add_mesh(obstacle.surface, color="#8fa1b0", ambient=0.5, diffuse=0.5, opacity=opacity, culling="back", **look))
        if obstacle.sharp:
            edges = obstacle.surface.clean().extract_feature_edges(40, boundary_edges=False, non_manifold_edges=False, manifold_edges=False)
            actors.append(self.plotter.add_mesh(edges, color="#8796a3", line_width=SUPERSAMPLING, lighting=False, reset_camera=False))
        return actors

    def draw(self, points, bodies, values, time):
        """The picture as an array of height x width x 3."""
        for obstacle, actor in self.actors:
            if obstacle.moves:
                actor.user_matrix = obstacle.at(time)
        cloud = pyvista.PolyData(points)
        radii = self.survey.radii[bodies]
        cloud.point_data["radius"] = radii.astype(np.float32)
        cloud.point_data["colour"] = colours_of(self.survey, values)
        self.mapper.SetInputData(cloud)
        if self.ground:
            self._draw_ground(points, radii)
        self.plotter.renderer.ResetCameraClippingRange()
        self.plotter.render()
        picture = Image.fromarray(self.plotter.screenshot(return_img=True))
        return np.asarray(picture.resize(self.size, Image.LANCZOS))

    def _draw_ground(self, points, radii):
        """The soft shadow of a light from above on a white plane below everything."""
        surveyed = self.survey.seen
        lowest, highest = surveyed.min(axis=0), surveyed.max(axis=0)
        centre, half = (lowest + highest) / 2, max(highest - lowest)
        cells = 512
        edges = [np.linspace(centre[k] - half, centre[k] + half, cells + 1) for k in (0, 1)]
        cover = np.histogram2d(points[:, 0], points[:, 1], bins=edges)[0]
        # A cell may be smaller than a particle: fill the gaps before the shadow's edge is softened.
        gap = 2 * np.median(radii) / (2 * half) * cells
        cover = np.minimum(1, 4 * gap**2 * gaussian_filter(cover, gap)) if gap > 0.5 else np.minimum(1, cover)
        floor = self.survey.floor - np.median(radii) if self.floor is None else self.floor
        height = max(np.median(points[:, 2]) - floor, 0)
        shade = 1 - 0.5 * gaussian_filter(cover, gap + 0.12 * height / (2 * half) * cells)
        texture = pyvista.Texture(np.repeat(np.rint(255 * shade.T[::-1, :, None]).astype(np.uint8), 3, axis=2))
        texture.interpolate = True
        plane = pyvista.Plane(center=(centre[0], centre[1], floor), i_size=2 * half, j_size=2 * half)
        self.plotter.add_mesh(plane, texture=texture, lighting=False, name="ground", reset_camera=False)


def draw_colour_bar(axes, survey, title, unit, font):
    bar = axes.figure.colorbar(matplotlib.cm.ScalarMappable(survey.norm, survey.colours), cax=axes)
    if unit:
        bar.formatter = EngFormatter(unit)
        bar.update_ticks()
    axes.tick_params(labelsize=0.8 * font)
    axes.set_title("\n".join(textwrap.wrap(title, 12)), fontsize=0.85 * font, loc="left", pad=font)


def bar_width(survey, height):
    return 0 if survey.norm is None else max(100, height // 5)


def composed(pictures, times, survey, quantity):
    """Pictures in a row with their times, and one colour bar to the right."""
    height, width = pictures[0].shape[:2]
    bar = bar_width(survey, height)
    total = width * len(pictures) + bar
    figure = plt.figure(figsize=(total / 100, height / 100), dpi=100, facecolor="white")
    font = max(7, height / 48)
    for k, (picture, time) in enumerate(zip(pictures, times, strict=True)):
        axes = figure.add_axes((k * width / total, 0, width / total, 1))
        axes.imshow(picture, interpolation="nearest", aspect="auto")
        axes.set_axis_off()
        axes.text(0.02, 0.97, f"t = {time:.4g} s", transform=axes.transAxes, fontsize=font, va="top", color="#222222")
    if survey.norm is not None:
        axes = figure.add_axes((1 - 0.9 * bar / total, 0.1, 0.15 * bar / total, 0.7))
        draw_colour_bar(axes, survey, quantity.title, quantity.unit, font)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=100)
    plt.close(figure)
    return Image.open(buffer).convert("RGB")


def saved(image, path, **options):
    """Whole or not at all, like the results themselves."""
    unfinished = path.with_name(f".{path.name}.tmp-{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        image.save(unfinished, format=path.suffix[1:].upper(), **options)
        unfinished.replace(path)
    except OSError as error:
        raise UserError(f"{path} can't be written: {error.strerror or error}") from error
    finally:
        if unfinished.exists():
            unfinished.unlink()
    print(path)


def save_video(images, path, rate):
    """`images` is an iterator: a long run does not have to fit in memory for an .mp4."""
    if path.suffix == ".gif":
        stills = [image.quantize(256, dither=Image.Dither.NONE) for image in images]
        saved(stills[0], path, save_all=True, append_images=stills[1:], duration=max(20, round(1000 / rate)), loop=0)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    first = next(images)
    unfinished = path.with_name(f".{path.stem}.tmp-{os.getpid()}{path.suffix}")
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-y", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24"]
    command += ["-s", f"{first.width}x{first.height}", "-r", str(rate), "-i", "-"]
    command += ["-vf", "crop=trunc(iw/2)*2:trunc(ih/2)*2", "-pix_fmt", "yuv420p", str(unfinished)]
    encoder = subprocess.Popen(command, stdin=subprocess.PIPE)
    with contextlib.suppress(BrokenPipeError), encoder:  # where it ends early, its own message says why
        for image in (first, *images):
            encoder.stdin.write(image.tobytes())
    if encoder.returncode:
        unfinished.unlink(missing_ok=True)
        raise UserError(f"ffmpeg could not write {path}")
    unfinished.replace(path)
    print(path)


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="tools/render", description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, metavar="DIR", help="result folder of `ductile run`")
    parser.add_argument("--frame", default="last", help="number (negative: from the end), last or all (default: last)")
    parser.add_argument("--field", help="what the colours show: an array of the result, vectors and tensors by magnitude, "
                        "or a component such as velocity.z or cauchy_stress.xx (default: von_mises_stress)")  # fmt: skip
    parser.add_argument("--out", type=Path, help="PNG to write; a folder with --frame all (default: in DIR)")
    parser.add_argument("--video", nargs="?", const="", metavar="FILE",
                        help="all frames as .mp4 or .gif (default: DIR/video.mp4)")  # fmt: skip
    parser.add_argument("--fps", type=float, default=25, help="pictures per second of the video (default: 25)")
    parser.add_argument("--sheet", type=int, metavar="N", help="N frames, evenly spaced, in a row in one PNG")
    parser.add_argument("--size", metavar="WxH", help="default: 1280x720; with --sheet, each picture's: 480x480")
    parser.add_argument("--camera", default="iso", help="iso, front, side, top or x,y,z[,focus_x,focus_y,focus_z]; "
                        "write --camera=-1,2,3 when it starts with a minus")  # fmt: skip
    parser.add_argument("--range", metavar="LOW,HIGH", help="of the colour bar (default: from the run)")
    parser.add_argument("--colours", metavar="NAME", help="a colour map of matplotlib (default: by field)")
    parser.add_argument("--ground", action="store_true", help="soft shadows on the floor, or on a plane below everything")
    parser.add_argument("--scene", type=Path, metavar="FILE",
                        help="the run's scene, for its colliders (default: the file that run.json names, if it is found unchanged)")  # fmt: skip
    parser.add_argument("--no-colliders", action="store_true", help="particles only")
    options = parser.parse_args(arguments)
    if options.video is not None:
        options.video = Path(options.video) if options.video else options.folder / "video.mp4"
    return options


def numbers(text, separator, count, option, kind=float):
    try:
        values = [kind(part) for part in text.split(separator)]
    except ValueError:
        values = []
    if len(values) != count or not all(map(math.isfinite, values)):
        raise UserError(f"{option} {text}: expected {count} numbers separated by '{separator}'")
    return values


def chosen_frames(options, count):
    if options.sheet is not None:
        if options.sheet < 1:
            raise UserError("--sheet: expected at least 1 picture")
        return np.linspace(0, count - 1, min(options.sheet, count)).round().astype(int).tolist()
    if options.video or options.frame == "all":
        return list(range(count))
    try:
        frame = count - 1 if options.frame == "last" else int(options.frame)
    except ValueError:
        raise UserError(f"--frame {options.frame}: expected a number, last or all") from None
    if not -count <= frame < count:
        raise UserError(f"--frame {frame}: the run has frames 0 to {count - 1}")
    return [frame % count]


def chosen_field(options, run):
    if options.field:
        return Quantity(options.field, run)
    name = next((name for name in ("von_mises_stress", "velocity", "body") if name in run.fields), run.fields[0])
    return Quantity(name, run)


def check_names(options):
    """Before anything is drawn, which may take long."""
    if options.sheet is not None and options.video:
        raise UserError("--sheet is one picture and --video a film of all frames: give one of them")
    if options.out and options.video:
        raise UserError(f"--out {options.out}: a film gets its name by --video FILE")
    single = options.frame != "all" or options.sheet
    if options.out and single and not options.video and options.out.suffix != ".png":
        raise UserError(f"--out {options.out}: expected a name that ends in .png")
    if not options.video:
        return
    if options.video.suffix not in (".gif", ".mp4"):
        raise UserError(f"--video {options.video}: expected a name that ends in .gif or .mp4")
    if not 0 < options.fps <= 120:
        raise UserError(f"--fps {options.fps}: expected a number above 0, at most 120")


def check_drawing():
    """VTK ends with a segmentation fault where it finds nothing to draw with."""
    if os.environ.get("DISPLAY"):
        return
    for library in ("libEGL.so.1", "libOSMesa.so.8", "libOSMesa.so.6", "libOSMesa.so"):
        try:
            ctypes.CDLL(library)
            return
        except OSError:
            pass
    raise UserError("drawing without a display needs libEGL (Debian: apt install libegl1 libgl1-mesa-dri) or libOSMesa")


def render(options):
    check_names(options)
    check_drawing()
    run = Run(options.folder)
    quantity = chosen_field(options, run)
    frames = chosen_frames(options, len(run.frames))
    default_size = "480x480" if options.sheet else "1280x720"
    size = numbers((options.size or default_size).lower(), "x", 2, "--size", int)
    if min(size) < 64 or max(size) > 8192:
        raise UserError(f"--size {options.size}: expected 64 to 8192 pixels each way")
    colour_range = numbers(options.range, ",", 2, "--range") if options.range else None
    if colour_range and not colour_range[0] < colour_range[1]:
        raise UserError(f"--range {options.range}: expected LOW,HIGH, the lower number first")
    if options.colours and options.colours not in matplotlib.colormaps:
        raise UserError(f"--colours {options.colours}: expected a colour map of matplotlib, such as viridis or turbo")
    obstacles = [] if options.no_colliders else read_obstacles(options.folder, options.scene)
    survey = Survey(run, quantity, colour_range, options.colours, obstacles)
    if not options.sheet:
        size[0] = max(64, size[0] - bar_width(survey, size[1]))
    stage = Stage(survey, size, camera_from(options.camera, survey, size[0] / size[1], options.ground), options.ground)

    def picture(frame):
        wanted = [quantity.array] + (["body"] if "body" in run.fields and quantity.array != "body" else [])
        points, data = run.read(frame, wanted)
        bodies = data.get("body", np.zeros(len(points), int))
        return stage.draw(points, bodies, quantity.of(data[quantity.array]), run.frames[frame][0])

    def with_bar(chosen):
        times = [run.frames[frame][0] for frame in chosen]
        return composed([picture(frame) for frame in chosen], times, survey, quantity)

    if options.sheet:
        saved(with_bar(frames), options.out or options.folder / "sheet.png")
    elif options.video:
        save_video((with_bar([frame]) for frame in frames), options.video, options.fps)
    elif options.frame == "all":
        for frame in frames:
            saved(with_bar([frame]), (options.out or options.folder / "frames") / f"frame_{frame:06d}.png")
    else:
        saved(with_bar(frames), options.out or options.folder / f"frame_{frames[0]:06d}.png")


def main(arguments):
    try:
        render(parse(arguments))
    except UserError as error:
        print(f"tools/render: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"tools/render: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
