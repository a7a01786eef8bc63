"""Shows a result folder in ParaView, particles as spheres coloured by a field.

    pvpython tools/paraview/particles.py DIR [FIELD]
    DUCTILE_RESULT=DIR paraview --script=tools/paraview/particles.py

FIELD is von_mises_stress unless given; with --script it comes from DUCTILE_FIELD.
"""

import os
import sys
import xml.etree.ElementTree as ElementTree

import numpy as np
from paraview import simple
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkIOXML import vtkXMLPolyDataReader


def spacing_of(collection):
    """Median distance of a particle of the first frame to its nearest neighbour."""
    first = next(ElementTree.parse(collection).iter("DataSet")).get("file")
    reader = vtkXMLPolyDataReader()
    reader.SetFileName(os.path.join(os.path.dirname(collection), first))
    reader.Update()
    points = vtk_to_numpy(reader.GetOutput().GetPoints().GetData()).astype(float)
    nearest = []
    for index in np.linspace(0, len(points) - 1, 50).astype(int):
        distance = ((points - points[index]) ** 2).sum(axis=1)
        distance[index] = np.inf
        nearest.append(distance.min() ** 0.5)
    return float(np.median(nearest))


def show(folder, field):
    collection = os.path.abspath(os.path.join(folder, "particles.pvd"))
    if not os.path.isfile(collection):
        sys.exit(f"{folder} is not a result folder: particles.pvd is missing")
    particles = simple.PVDReader(FileName=collection)
    known = list(particles.PointData.keys())
    if field not in known:
        sys.exit(f"no field {field}; this run has: {', '.join(known)}")
    view = simple.GetActiveViewOrCreate("RenderView")
    display = simple.Show(particles, view)
    display.SetRepresentationType("Point Gaussian")
    display.ShaderPreset = "Sphere"
    display.GaussianRadius = 0.58 * spacing_of(collection)  # a little over half: a lattice looks closed
    simple.ColorBy(display, ("POINTS", field))
    simple.GetAnimationScene().UpdateAnimationUsingDataTimeSteps()
    display.RescaleTransferFunctionToDataRangeOverTime()
    display.SetScalarBarVisibility(view, True)
    camera = view.GetActiveCamera()
    camera.SetPosition(0.6, -1.0, 0.45)
    camera.SetFocalPoint(0, 0, 0)
    camera.SetViewUp(0, 0, 1)
    view.ResetCamera()
    simple.Render(view)


inside_paraview = "DUCTILE_RESULT" in os.environ
if inside_paraview:
    show(os.environ["DUCTILE_RESULT"], os.environ.get("DUCTILE_FIELD", "von_mises_stress"))
elif len(sys.argv) in (2, 3):
    show(*(sys.argv[1:] + ["von_mises_stress"])[:2])
    simple.Interact()
else:
    sys.exit(__doc__)
