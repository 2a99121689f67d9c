"""The tutorial for authors of providers shows the example as it is, and ends with what its suite really says."""

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from shutil import copytree
from time import monotonic, sleep

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples/shed"
PACKAGE = "src/nodewright_example_shed"
PAGE = (ROOT / "docs/writing-a-provider.md").read_text()


def blocks(language: str) -> list[str]:
    """All blocks of code in a language, in the order of the page."""
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def commands(program: str) -> list[str]:
    """The words after *program* in the one command of the page that begins so."""
    (found,) = [line for block in blocks("sh") for line in block.splitlines() if line.startswith(f"{program} ")]
    return found.removeprefix(program).split()


def in_one_piece(parts: list[str]) -> list[str]:
    """Lines that say something: between parts there may be any number of empty ones."""
    return [line for part in parts for line in part.splitlines() if line]


def run_the_suite(example: Path) -> str:
    """What pytest says of *example* with the provider that is there."""
    command = (sys.executable, "-m", "pytest", "-q", "--tb=line", "-p", "no:cacheprovider", "tests")
    paths = os.pathsep.join((str(example / "src"), os.environ.get("PYTHONPATH", "")))
    done = subprocess.run(
        command, cwd=example, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True, check=False
    )
    return done.stdout + done.stderr


def test_the_tutorial_shows_all_of_the_example() -> None:
    files = [f"{PACKAGE}/inventory.py", f"{PACKAGE}/provider.py", "tests/test_shed.py", "people.py"]
    assert in_one_piece(blocks("python")) == in_one_piece([(EXAMPLE / file).read_text() for file in files])
    assert (EXAMPLE / "pyproject.toml").read_text() in blocks("toml")


def test_the_rack_in_the_tutorial_is_what_the_suite_expects_of_racks() -> None:
    (rack,) = blocks("json")
    (small,) = re.findall(r"^SMALL = (\{.*?^\})$", PAGE, re.DOTALL | re.MULTILINE)
    assert json.loads(rack)["template"] == ast.literal_eval(small)


def test_the_commands_of_the_tutorial_need_no_plugin_of_pytest_that_only_we_have() -> None:
    command = (sys.executable, "-m", "pytest", "-q", "--collect-only", "-p", "no:timeout", "-p", "no:cacheprovider")
    done = subprocess.run((*command, "examples/shed"), cwd=ROOT, capture_output=True, text=True, check=False)
    passed, skipped = re.findall(r"\d+", blocks("text")[0])
    assert f"{int(passed) + int(skipped)} tests collected" in done.stdout, done.stderr


def test_the_suite_says_of_the_example_what_the_tutorial_shows(tmp_path) -> None:
    example = copytree(EXAMPLE, tmp_path / "shed")
    summary, *_ = blocks("text")
    assert summary.strip() in run_the_suite(example)


def test_the_suite_finds_the_mistake_in_the_tutorial(tmp_path) -> None:
    example = copytree(EXAMPLE, tmp_path / "shed")
    provider = example / PACKAGE / "provider.py"
    (diff,) = blocks("diff")
    right, wrong = (line[1:] for line in diff.splitlines())
    assert provider.read_text().count(right) == 1
    provider.write_text(provider.read_text().replace(right, wrong))
    said = run_the_suite(example)
    _, failures, _ = blocks("text")
    expected = dict(line.split(": ", 1) for line in failures.splitlines())
    assert set(re.findall(r"^FAILED \S+::(\w+)", said, re.MULTILINE)) == set(expected)
    for message in expected.values():
        assert f"AssertionError: {message}\n" in said


def test_the_tutorial_shows_the_files_of_the_cluster_as_they_are() -> None:
    for file in ("town.yaml", "nodewright.yaml"):
        assert (EXAMPLE / file).read_text() in blocks("yaml")
    (rack,) = json.loads((EXAMPLE / "inventory.json").read_text())["racks"].values()
    assert rack["template"] == json.loads(blocks("json")[0])["template"]


@pytest.fixture
def workshop(tmp_path) -> Path:
    """A folder with the example in it, in which the rush is over sooner."""
    copytree(EXAMPLE, tmp_path / "examples/shed")
    town = tmp_path / "examples/shed/town.yaml"
    town.write_text(town.read_text().replace("at: 1m", "at: 25s"))
    return tmp_path


@contextmanager
def running(folder: Path, log: str, *words: str, **environment: str) -> Iterator[Path]:
    """Run Python with *words* in *folder*; yield the file that has what it says."""
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", **environment}
    said = folder / log
    with said.open("w") as file:
        command = (sys.executable, *words)
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=file, stderr=subprocess.STDOUT)
    try:
        yield said
    finally:
        process.terminate()
        process.wait(30)


def await_words(file: Path, pattern: str, seconds: float = 100) -> str:
    """Wait until *pattern* is in *file*; return what is there by then."""
    until = monotonic() + seconds
    while re.search(pattern, file.read_text()) is None:
        assert monotonic() < until, f"no {pattern!r} in {file.name}:\n{file.read_text()}"
        sleep(0.2)
    return file.read_text()


@pytest.mark.timeout(400)
def test_the_provider_of_the_tutorial_scales_a_whole_cluster(workshop) -> None:
    _, _, expected = blocks("text")
    with ExitStack() as stack:
        up, run, people = commands("nodewright world"), commands("nodewright run"), commands("python")
        source, copy = commands("cp")
        world = stack.enter_context(running(workshop, "world.log", "-m", "nodewright", "world", *up))
        kubeconfig = re.search(r"export KUBECONFIG=(\S+)", await_words(world, r"KUBECONFIG=\S+\n"))[1]
        (workshop / copy).write_text((workshop / source).read_text())
        stack.enter_context(running(workshop, "people.log", *people, KUBECONFIG=kubeconfig))
        nodewright = stack.enter_context(
            running(workshop, "nodewright.log", "-m", "nodewright", "run", *run, KUBECONFIG=kubeconfig)
        )
        for line in expected.splitlines():
            # Either machine may be the one that is not needed any more.
            await_words(nodewright, re.escape(line).replace("machine\\-1", r"machine\-[01]"))
        await_machines(workshop / copy, 1)


def await_machines(inventory: Path, count: int, seconds: float = 60) -> None:
    """Wait until so many machines are in the rack."""
    until = monotonic() + seconds
    while len(json.loads(inventory.read_text())["racks"]["left"]["machines"]) != count:
        assert monotonic() < until, inventory.read_text()
        sleep(0.2)
