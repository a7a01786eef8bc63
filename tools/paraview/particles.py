"""Shows a result folder in ParaView, particles as spheres coloured by a field.

    pvpython tools/paraview/particles.py DIR [FIELD] [--picture FILE.png [--time SECONDS]]
    DUCTILE_RESULT=DIR paraview --script=tools/paraview/particles.py

FIELD is von_mises_stress unless given; with --script it comes from DUCTILE_FIELD. --picture draws the frame at that time
(the last by default) into a file instead of a window. tools/pvpython runs ParaView where it is not installed.
"""

import argparse
import math
import os
import sys
import xml.etree.ElementTree as ElementTree

import numpy as np
from paraview import simple
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkDataArray
from vtkmodules.vtkIOXML import vtkXMLPolyDataReader


def refuse(text, code=2):
    print(f"particles.py: {text}", file=sys.stderr)
    sys.exit(code)


def files_of(folder):
    """The frames of a result folder, all of them there."""
    collection = os.path.join(folder, "particles.pvd")
    if not os.path.isfile(collection):
        refuse(f"{folder} is not a result folder: particles.pvd is missing")
    try:
        files = [os.path.join(folder, entry.get("file")) for entry in ElementTree.parse(collection).iter("DataSet")]
    except (ElementTree.ParseError, TypeError) as error:
        refuse(f"{collection} is damaged ({error}): run the scene again")
    if not files:
        refuse(f"{collection} lists no frames yet")
    for file in files:
        if not os.path.isfile(file):
            refuse(f"the frame {file} is missing: put it back, or run the scene again")
    return files


def frames_of(files, count):
    """`count` frames, evenly spaced, with the first and the last."""
    for index in sorted(set(np.linspace(0, len(files) - 1, count).astype(int))):
        reader = vtkXMLPolyDataReader()
        reader.SetFileName(files[index])
        reader.Update()
        if reader.GetOutput().GetNumberOfPoints() == 0:
            refuse(f"the frame {files[index]} is damaged: put back the file that the run wrote, or run the scene again")
        yield reader.GetOutput()


def spacing_of(files):
    """Median distance of a particle of the first frame to its nearest neighbour."""
    points = vtk_to_numpy(next(frames_of(files, 1)).GetPoints().GetData()).astype(float)
    nearest = []
    for index in np.linspace(0, len(points) - 1, 50).astype(int):
        distance = ((points - points[index]) ** 2).sum(axis=1)
        distance[index] = np.inf
        nearest.append(distance.min() ** 0.5)
    return float(np.median(nearest))


def range_and_unit_of(files, field):
    """Range over the run without the hundredth of the values at either end: a few particles would take all colours."""
    values = []
    for frame in frames_of(files, 12):
        array = frame.GetPointData().GetArray(field)
        numbers = vtk_to_numpy(array).astype(float)
        values.append(numbers if numbers.ndim == 1 else np.linalg.norm(numbers, axis=1))
    low, high = np.nanpercentile(np.concatenate(values), [1, 99])
    return low, high if high > low else low + 1, array.GetInformation().Get(vtkDataArray.UNITS_LABEL()) or "1"


def show(folder, field):
    files = files_of(os.path.abspath(folder))
    spacing = spacing_of(files)
    particles = simple.PVDReader(FileName=os.path.abspath(os.path.join(folder, "particles.pvd")))
    known = list(particles.PointData.keys())
    if field not in known:
        refuse(f"no field {field}; this run has: {', '.join(known)}")
    view = simple.GetActiveViewOrCreate("RenderView")
    display = simple.Show(particles, view)
    display.SetRepresentationType("Point Gaussian")
    display.ShaderPreset = "Sphere"
    display.GaussianRadius = 0.58 * spacing  # a little over half: a lattice looks closed
    simple.ColorBy(display, ("POINTS", field))
    simple.GetAnimationScene().UpdateAnimationUsingDataTimeSteps()
    low, high, unit = range_and_unit_of(files, field)
    colours = simple.GetColorTransferFunction(field)
    colours.RescaleTransferFunction(low, high)
    display.SetScalarBarVisibility(view, True)
    bar = simple.GetScalarBar(colours, view)
    bar.Title, bar.ComponentTitle = f"{field} ({unit})", ""
    camera = view.GetActiveCamera()
    camera.SetPosition(0.6, -1.0, 0.45)
    camera.SetFocalPoint(0, 0, 0)
    camera.SetViewUp(0, 0, 1)
    view.ResetCamera()
    simple.Render(view)
    return particles, view


def save_picture(particles, view, file, time):
    times = list(particles.TimestepValues)
    view.ViewTime = times[-1] if time is None else min(times, key=lambda known: abs(known - time))
    view.ViewSize = [1000, 750]
    view.UseColorPaletteForBackground = 0
    view.Background = [0.32, 0.34, 0.43]
    simple.Render(view)
    view.ResetCamera()
    view.GetActiveCamera().Dolly(0.9)  # ParaView fits the centres of the spheres
    # ParaView says nothing of what it could not write: a new file is there, or it is not.
    unfinished = f"{file[:-4]}.tmp-{os.getpid()}.png"
    simple.SaveScreenshot(unfinished, view, ImageResolution=[1000, 750])
    try:
        os.replace(unfinished, file)
    except OSError as error:
        if os.path.exists(unfinished):
            os.remove(unfinished)
        refuse(f"{file} could not be written: {error.strerror}", code=1)
    print(f"{file}: t = {view.ViewTime:g} s")


def parse(arguments):
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("folder")
    parser.add_argument("field", nargs="?", default="von_mises_stress")
    parser.add_argument("--picture")
    parser.add_argument("--time", type=float)
    options = parser.parse_args(arguments)
    if options.picture is not None:
        if not options.picture.endswith(".png"):
            refuse(f"--picture {options.picture}: expected a name that ends in .png")
        place = os.path.dirname(os.path.abspath(options.picture))
        if not os.path.isdir(place) or not os.access(place, os.W_OK):
            refuse(f"--picture {options.picture}: the folder {place} is not there or can't be written to")
    if options.time is not None and (options.picture is None or not math.isfinite(options.time)):
        refuse(f"--time {options.time}: expected a number of seconds, with --picture")
    return options


if "DUCTILE_RESULT" in os.environ:
    show(os.environ["DUCTILE_RESULT"], os.environ.get("DUCTILE_FIELD", "von_mises_stress"))
elif __name__ == "__main__":
    options = parse(sys.argv[1:])
    particles, view = show(options.folder, options.field)
    if options.picture:
        save_picture(particles, view, options.picture, options.time)
    else:
        simple.Interact()
