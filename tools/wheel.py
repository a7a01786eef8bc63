"""Packs the built Python package into a wheel, with the scenes and the libraries that a machine may lack. For tools/wheel."""

import base64
import hashlib
import re
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

BUNDLED = re.compile(r"lib(fmt|gomp|tomlplusplus)\.so")  # what the C++ runtime and the C library do not bring along


def needed_libraries(module):
    """Paths of the bundled libraries, by the name that the module asks for."""
    lines = subprocess.run(["ldd", module], capture_output=True, text=True, check=True).stdout.splitlines()
    found = (re.match(r"\s*(\S+) => (\S+)", line) for line in lines)
    return {match[1]: Path(match[2]) for match in found if match and BUNDLED.match(match[1])}


def main(package, folder):
    package, folder = Path(package), Path(folder)
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    module = package / f"_ductile{suffix}"
    if not module.is_file():
        sys.exit(f"{module} is missing: build the target ductile_python first")
    version = re.search(r"VERSION (\S+)", (Path(__file__).parents[1] / "CMakeLists.txt").read_text().split("project(")[1])[1]
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    tag = f"{python}-{python}-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
    info = f"ductile-{version}.dist-info"
    files = {
        "ductile/__init__.py": (package / "__init__.py").read_bytes(),
        f"ductile/{module.name}": module.read_bytes(),
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: ductile\nVersion: {version}\n"
        "Summary: Particle simulator for elastic and inelastic solids\nRequires-Python: >=3.9\n"
        "Requires-Dist: numpy\n".encode(),
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: ductile\nRoot-Is-Purelib: false\nTag: {tag}\n".encode(),
    }
    files |= {f"ductile/lib/{name}": path.read_bytes() for name, path in needed_libraries(module).items()}
    scenes = Path(__file__).parents[1] / "scenes"
    shipped = sorted(file for kind in ("*.toml", "*.obj") for file in scenes.rglob(kind))
    files |= {f"ductile/scenes/{file.relative_to(scenes)}": file.read_bytes() for file in shipped}
    record = ""
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(content)}\n"
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    folder.mkdir(parents=True, exist_ok=True)
    wheel = folder / f"ductile-{version}-{tag}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)
    print(wheel)


if __name__ == "__main__":
    main(*sys.argv[1:])
