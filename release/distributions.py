"""Builds the distributions of a tree, and checks what came out."""

import subprocess
import sys
import tarfile
import tomllib
from collections.abc import Mapping, Sequence
from email.parser import Parser
from hashlib import sha256
from pathlib import Path
from zipfile import ZipFile

from packaging.requirements import Requirement
from packaging.version import Version

from release.errors import ReleaseError

#: What no distribution may have: environments, caches, and secrets that lay about.
UNWANTED = ("__pycache__", ".venv", ".env", ".pem", ".key", ".pyc", ".git/")


def run(*command: str | Path, cwd: Path, environment: Mapping[str, str]) -> str:
    """Run *command* and return what it printed; raises `ReleaseError` with all of that if it fails."""
    done = subprocess.run(
        command, cwd=cwd, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if done.returncode:
        raise ReleaseError(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


def projects(root: Path) -> Sequence[Path]:
    """Return the folders of all distributions that are released together."""
    return (root / "core", *sorted(each.parent for each in root.glob("plugins/*/pyproject.toml")))


def build(root: Path, into: Path, environment: Mapping[str, str]) -> None:
    """Build an sdist of each distribution, and from it, which shows that it is complete, a wheel."""
    for project in projects(root):
        run(
            sys.executable,
            "-m",
            "build",
            "--no-isolation",
            "--outdir",
            into,
            project,
            cwd=root,
            environment=environment,
        )


def check(root: Path, built: Path, version: Version) -> None:
    """Raise `ReleaseError` if a distribution is missing, or has not what it should have."""
    expected = set()
    for project in projects(root):
        name = str(tomllib.loads((project / "pyproject.toml").read_text())["project"]["name"])
        stem = f"{name.replace('-', '_')}-{version}"
        wheel, sdist = built / f"{stem}-py3-none-any.whl", built / f"{stem}.tar.gz"
        expected |= {wheel.name, sdist.name}
        if not (wheel.is_file() and sdist.is_file()):
            raise ReleaseError(f"{wheel.name} or {sdist.name} was not built: look at {project}/pyproject.toml")
        _check_wheel(wheel, project, version)
        _check_sdist(sdist, stem)
    if surplus := {each.name for each in built.iterdir()} - expected:
        raise ReleaseError(f"nobody expected {', '.join(sorted(surplus))} among the distributions")


def _check_wheel(wheel: Path, project: Path, version: Version) -> None:
    with ZipFile(wheel) as archive:
        names = archive.namelist()
        (metadata,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        told = Parser().parsestr(archive.read(metadata).decode())
    (package,) = (each.name for each in (project / "src").iterdir() if each.is_dir() and "egg-info" not in each.name)
    modules = {str(each.relative_to(project / "src")) for each in (project / "src").rglob("*.py")}
    wanted = {*modules, f"{package}/py.typed", metadata.replace("METADATA", "licenses/LICENSE")}
    _refuse(wheel, missing=wanted - set(names), unwanted=_unwanted(names))
    own = {name for name in names if not name.startswith((f"{package}/", f"{package}-"))}
    _refuse(wheel, missing=(), unwanted=own)
    if told["Version"] != str(version):
        raise ReleaseError(f"{wheel.name} says that it is {told['Version']}")
    for each in map(Requirement, told.get_all("Requires-Dist", [])):
        if each.name == "nodewright" and version not in each.specifier:
            raise ReleaseError(f"{wheel.name} requires {each}, which this release is not")


def _check_sdist(sdist: Path, stem: str) -> None:
    with tarfile.open(sdist) as archive:
        names = archive.getnames()
    wanted = {f"{stem}/{each}" for each in ("PKG-INFO", "pyproject.toml", "README.md", "LICENSE")}
    _refuse(sdist, missing=wanted - set(names), unwanted=_unwanted(names))


def _unwanted(names: Sequence[str]) -> set[str]:
    return {name for name in names if any(each in name for each in UNWANTED)}


def _refuse(file: Path, *, missing: Sequence[str] | set[str], unwanted: set[str]) -> None:
    for what, found in (("lacks", missing), ("should not have", unwanted)):
        if found:
            raise ReleaseError(f"{file.name} {what} {', '.join(sorted(found))}")


def try_out(built: Path, environment_folder: Path, environment: Mapping[str, str]) -> None:
    """Install all wheels into a fresh environment: its program has to start, and each plugin to load."""
    wheels = sorted(built.glob("*.whl"))
    folder = environment_folder
    run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=built, environment=environment)
    pip = (sys.executable, "-m", "pip", "--python", folder / "bin/python")
    run(*pip, "install", "--quiet", "--disable-pip-version-check", *wheels, cwd=built, environment=environment)
    version = wheels[0].name.split("-")[1]
    told = run(folder / "bin/nodewright", "--version", cwd=built, environment=environment)
    if told != f"nodewright {version}\n":
        raise ReleaseError(f"the wheels of {version} answer --version with {told.strip()}")
    plugins = run(folder / "bin/python", "-c", _BAD_PLUGINS, cwd=built, environment=environment)
    if plugins.strip():
        raise ReleaseError(f"plugins of the wheels can't be used: {plugins.strip()}")


_BAD_PLUGINS = """
from nodewright.plugins import Registry
for each in Registry().statuses():
    if each.state != "ready":
        print(f"{each.kind}/{each.name}: {each.reason}")
"""


def list_components(environment_folder: Path, into: Path, environment: Mapping[str, str]) -> None:
    """Write what an environment is made of, with versions and licences, as CycloneDX JSON."""
    python = environment_folder / "bin/python"
    command = (
        sys.executable,
        "-m",
        "cyclonedx_py",
        "environment",
        "--output-reproducible",
        "--output-file",
        into,
        python,
    )
    run(*command, cwd=into.parent, environment=environment)


def write_checksums(folder: Path) -> Path:
    """Write SHA256SUMS of all files of *folder*, as ``sha256sum --check`` reads it."""
    sums = folder / "SHA256SUMS"
    files = sorted(each for each in folder.iterdir() if each != sums)
    sums.write_text("".join(f"{sha256(each.read_bytes()).hexdigest()}  {each.name}\n" for each in files))
    return sums
