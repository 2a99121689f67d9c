"""What `nodewright new` writes can be installed and used as it is."""

import json
import os
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path
from re import DOTALL, MULTILINE, findall
from typing import Any

import pytest
import yaml
from nodewright.cli.new import KINDS, LISTS, rendered

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples/near-data/src/nodewright_example_near_data/expander.py"
#: What is written, by name.
BEGUN = {
    "barn": ("provider",),
    "by-zone": ("expander",),
    "by-hand": ("estimator",),
    "on-hold": ("processor",),
    "young": ("processor", "--of", LISTS[1]),
    "quiet": ("drain-rule",),
    "contract": ("prices",),
    "in-use": ("hook",),
}


def run(*command: str | Path, cwd: Path) -> str:
    """Run *command*, expect that it succeeds, and return what it printed."""
    # What developers have on their paths is not there for others.
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "MYPYPATH")}
    done = subprocess.run(
        command, cwd=cwd, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def merged(one: Any, other: Any) -> Any:
    """Two pieces of a configuration in one."""
    if isinstance(one, dict) and isinstance(other, dict):
        return {key: merged(one.get(key), other.get(key)) for key in one | other}
    return other if one is None else one


def code(text: str) -> list[str]:
    """Lines that do something."""
    return [line for line in text.splitlines() if line and not line.strip().startswith("#")]


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Iterator[Path]:
    """A folder with an environment in which the core of this checkout is installed, and one plugin of each kind."""
    place = tmp_path_factory.mktemp("new")
    venv.create(place / "environment", symlinks=True)
    python = place / "environment/bin/python"
    # The wheel is what users get: what it lacks, `nodewright new` can't write.
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", place, cwd=ROOT / "core")
    [wheel] = place.glob("*.whl")
    uv = (Path(sys.executable).parent / "uv", "pip", "install", "--quiet", "--python", python)
    locked = ("--constraint", ROOT / "requirements-dev.lock")
    run(*uv, *locked, wheel, cwd=place)
    for name, (kind, *options) in BEGUN.items():
        run(python.with_name("nodewright"), "new", kind, name, *options, cwd=place)
    begun = [f"./nodewright-{name}[test]" for name in BEGUN]
    run(*uv, *locked, *(word for path in begun for word in ("--editable", path)), cwd=place)
    return place


@pytest.mark.install
@pytest.mark.parametrize(
    "tool",
    [
        ("pytest", "-q", "-p", "no:cacheprovider", "-W", "error"),
        ("mypy", "--strict", "--cache-dir", "types"),
        ("ruff", "check", "--no-cache"),
        ("ruff", "format", "--check", "--no-cache"),
    ],
    ids=" ".join,
)
def test_what_is_written_passes_its_tests_and_checks_as_it_is(place, tool) -> None:
    program, *options = tool
    folders = [f"nodewright-{name}/{folder}" for name in BEGUN for folder in ("src", "tests")]
    tests = [folder for folder in folders if folder.endswith("/tests")]
    run(place / "environment/bin" / program, *options, *(tests if program == "pytest" else folders), cwd=place)


@pytest.mark.install
def test_what_is_written_is_used_as_its_readme_says(place) -> None:
    settings: Any = {"apiVersion": "nodewright.dev/v1", "kind": "Autoscaler"}
    for name in BEGUN:
        for shown in findall(r"```yaml\n(.*?)```", (place / f"nodewright-{name}/README.md").read_text(), DOTALL):
            settings = merged(settings, yaml.safe_load(shown))
    configuration = place / "nodewright.yaml"
    configuration.write_text(yaml.safe_dump(settings))
    nodewright = place / "environment/bin/nodewright"
    run(nodewright, "config", "check", configuration, cwd=place)
    known = json.loads(run(nodewright, "plugins", "--config", configuration, "-o", "json", cwd=place))
    assert {each["name"]: each["state"] for each in known if each["name"] in BEGUN} == dict.fromkeys(BEGUN, "in use")


@pytest.mark.install
def test_what_is_written_builds(place) -> None:
    for name in BEGUN:
        run(sys.executable, "-m", "hatchling", "build", "-d", place / "built", cwd=place / f"nodewright-{name}")
    assert len(list((place / "built").glob("*.whl"))) == len(BEGUN)


def test_the_expander_that_is_written_is_the_one_of_the_tutorial() -> None:
    written = rendered("expander", "near-data", prefix="nodewright-example")
    assert code(written["src/nodewright_example_near_data/expander.py"]) == code(EXAMPLE.read_text())


def test_the_pages_for_authors_begin_with_kinds_that_can_be_written() -> None:
    strategies, provider = (
        (ROOT / f"docs/{page}.md").read_text() for page in ("strategy-authors", "writing-a-provider")
    )
    assert set(findall(r"^\| `nodewright new ([\w-]+) NAME", strategies, MULTILINE)) == set(KINDS)
    assert set(findall(r"^\$ nodewright new ([\w-]+) [\w-]+ ", strategies + provider, MULTILINE)) <= set(KINDS)
    assert LISTS[1] in strategies
