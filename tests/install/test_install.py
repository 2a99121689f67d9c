"""Every distribution builds, and fresh environments have what was installed into them and nothing else."""

import json
import subprocess
import sys
import tomllib
import venv
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[2]
PROJECTS = [ROOT / "core", *sorted(ROOT.glob("plugins/*/")), *sorted(ROOT.glob("examples/*/"))]

pytestmark = pytest.mark.install


def build(project: Path, into: Path) -> Path:
    """Build a wheel of *project*, without fetching the build back end anew."""
    before = set(into.glob("*.whl"))
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", into, cwd=project)
    (wheel,) = set(into.glob("*.whl")) - before
    return wheel


def run(*command: str | Path, cwd: Path | None = None, status: int = 0) -> str:
    """Run *command*, expect *status*, and return all that it printed."""
    result = subprocess.run(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert result.returncode == status, result.stdout
    return result.stdout


class Environment:
    """A fresh virtual environment."""

    def __init__(self, directory: Path) -> None:
        venv.create(directory, symlinks=True)
        self.bin = directory / "bin"

    def install(self, *wheels: Path) -> None:
        """Install *wheels* with uv, which `make` has put beside our own Python."""
        self._uv("install", *wheels)

    def uninstall(self, distribution: str) -> None:
        """Uninstall *distribution*."""
        self._uv("uninstall", distribution)

    def nodewright(self, *words: str | Path, status: int = 0) -> str:
        """Run the environment's own ``nodewright``."""
        return run(self.bin / "nodewright", *words, cwd=self.bin, status=status)

    def help_on(self, name: str) -> str:
        """Return what the environment's own ``help`` says about *name*."""
        return run(self.bin / "python", "-m", "pydoc", name, cwd=self.bin)

    def plugins(self) -> dict[str, set[str]]:
        """Names of all plugins by distribution."""
        known = json.loads(self.nodewright("plugins", "-o", "json"))
        return {
            distribution: {f"{each['kind']}/{each['name']}" for each in known if each["distribution"] == distribution}
            for distribution in (each["distribution"] for each in known)
        }

    def _uv(self, action: str, *what: str | Path) -> None:
        run(Path(sys.executable).parent / "uv", "pip", action, "--quiet", "--python", self.bin / "python", *what)


def registered(project: Path) -> set[str]:
    """What *project* says in its pyproject file that it has."""
    entry_points = tomllib.loads((project / "pyproject.toml").read_text())["project"]["entry-points"]
    return {f"{group.removeprefix('nodewright.')}/{name}" for group, names in entry_points.items() for name in names}


@pytest.mark.parametrize("project", PROJECTS, ids=lambda project: project.name)
def test_every_distribution_builds_a_wheel_with_types_and_nothing_for_tests(project, tmp_path) -> None:
    wheel = build(project, tmp_path)
    files = ZipFile(wheel).namelist()
    (package,) = {file.split("/")[0] for file in files if not file.split("/")[0].endswith(".dist-info")}
    assert f"{package}/py.typed" in files
    assert {path.relative_to(project / "src").as_posix() for path in (project / "src").rglob("*.py")} <= set(files)
    assert any(file.endswith(".dist-info/licenses/LICENSE") for file in files)


def test_an_environment_has_the_plugins_that_are_installed_in_it(tmp_path) -> None:
    core, fake, example = (
        build(ROOT / project, tmp_path) for project in ("core", "plugins/fake", "examples/near-data")
    )
    environment = Environment(tmp_path / "environment")
    builtin = {"nodewright": registered(ROOT / "core")}

    environment.install(core)
    assert environment.plugins() == builtin
    assert environment.nodewright("demo", status=2) == (
        "nodewright: no command is called 'demo': install it in Nodewright's folder with: pip install ./plugins/fake\n"
    )
    configuration = tmp_path / "nodewright.yaml"
    configuration.write_text("apiVersion: nodewright.dev/v1\nkind: Autoscaler\nproviders: [fake]\n")
    assert (
        "no provider is called 'fake': install it in Nodewright's folder with: pip install ./plugins/fake"
        in environment.nodewright("plugins", "--config", configuration, status=2)
    )
    assert "Ids of similar groups, over which the growth may be spread." in environment.help_on("nodewright.api.Option")

    environment.install(fake)
    assert environment.plugins() == builtin | {"nodewright-fake": registered(ROOT / "plugins/fake")}

    environment.uninstall("nodewright-fake")
    assert environment.plugins() == builtin

    environment.install(example)
    assert environment.plugins() == builtin | {"nodewright-example-near-data": {"expanders/near-data"}}


def test_core_and_a_plugin_are_installed_from_a_clone_by_one_command_of_plain_pip(tmp_path) -> None:
    environment = Environment(tmp_path / "environment")
    pip = (sys.executable, "-m", "pip", "--python", environment.bin / "python")
    run(*pip, "install", "--quiet", "--no-compile", "./core", "./plugins/fake", cwd=ROOT)
    assert "providers/fake" in environment.plugins()["nodewright-fake"]
