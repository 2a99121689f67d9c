"""The tutorial for authors of providers shows the example as it is, and ends with what its suite really says."""

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from shutil import copytree

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples/shed"
PACKAGE = "src/nodewright_example_shed"
PAGE = (ROOT / "docs/writing-a-provider.md").read_text()


def blocks(language: str) -> list[str]:
    """All blocks of code in a language, in the order of the page."""
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


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
    files = [f"{PACKAGE}/inventory.py", f"{PACKAGE}/provider.py", "tests/test_shed.py"]
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
    summary, _ = blocks("text")
    assert summary.strip() in run_the_suite(example)


def test_the_suite_finds_the_mistake_in_the_tutorial(tmp_path) -> None:
    example = copytree(EXAMPLE, tmp_path / "shed")
    provider = example / PACKAGE / "provider.py"
    (diff,) = blocks("diff")
    right, wrong = (line[1:] for line in diff.splitlines())
    assert provider.read_text().count(right) == 1
    provider.write_text(provider.read_text().replace(right, wrong))
    said = run_the_suite(example)
    _, failures = blocks("text")
    expected = dict(line.split(": ", 1) for line in failures.splitlines())
    assert set(re.findall(r"^FAILED \S+::(\w+)", said, re.MULTILINE)) == set(expected)
    for message in expected.values():
        assert f"AssertionError: {message}\n" in said
