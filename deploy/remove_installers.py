"""Removes pip and its like from the Python of an image."""

import shutil
import sysconfig
from pathlib import Path

NAMES = ("pip", "setuptools", "wheel", "ensurepip", "pkg_resources", "_distutils_hack")
# The environment's own packages lie elsewhere: those of the base are meant.
BASE = sysconfig.get_paths("posix_prefix", {"base": sysconfig.get_config_var("installed_base")})

for name in NAMES:
    for folder in (BASE["stdlib"], BASE["purelib"]):
        for found in (Path(folder, name), *Path(folder).glob(f"{name}-*.dist-info")):
            shutil.rmtree(found, ignore_errors=True)
    for program in Path(BASE["scripts"]).glob(f"{name}[0-9.]*"):
        program.unlink()
    Path(BASE["scripts"], name).unlink(missing_ok=True)
