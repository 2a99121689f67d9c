"""Removes pip and its like below the prefixes given. For images: elsewhere, it would take your own pip."""

import shutil
import sys
from pathlib import Path

NAMES = ("pip", "setuptools", "wheel", "ensurepip", "pkg_resources", "_distutils_hack")

for prefix in map(Path, sys.argv[1:]):
    for name in NAMES:
        for pattern in (name, f"{name}-*.dist-info", f"*-packages/{name}", f"*-packages/{name}-*.dist-info"):
            for found in prefix.glob(f"lib/python3*/{pattern}"):
                shutil.rmtree(found)
        for program in [*prefix.glob(f"bin/{name}"), *prefix.glob(f"bin/{name}[0-9]*")]:
            program.unlink()
