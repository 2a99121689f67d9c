"""What the forge runs is what there is, and nobody's machine is changed by the checks."""

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
JOBS = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())["jobs"]
STEPS = [step for job in JOBS.values() for step in job["steps"]]
COMMANDS = [step["run"] for step in STEPS if "run" in step]
MAKEFILE = (ROOT / "Makefile").read_text()


def test_every_subject_has_a_job() -> None:
    assert JOBS.keys() == {"lint", "tests", "image", "chart", "docs", "release"}


@pytest.mark.parametrize("command", [each for each in COMMANDS if each.startswith("make ")])
def test_the_targets_that_the_forge_makes_are_there(command) -> None:
    assert re.search(rf"^{re.escape(command.split()[1])}:", MAKEFILE, re.MULTILINE)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_files_that_the_forge_names_are_there(command) -> None:
    files = re.findall(r"(?:tests|deploy)/[\w./-]+", command)
    assert [each for each in files if not (ROOT / each).exists()] == []


def test_the_forge_runs_the_tests_on_every_python_that_is_told_to_work() -> None:
    project = tomllib.loads((ROOT / "core/pyproject.toml").read_text())["project"]
    told = [each.rpartition(" ")[2] for each in project["classifiers"] if "Python :: 3." in each]
    assert JOBS["tests"]["strategy"]["matrix"]["python"] == told


def test_actions_come_from_the_forge_itself_and_in_one_version() -> None:
    used = {step["uses"] for step in STEPS if "uses" in step}
    assert all(each.startswith("actions/") for each in used)
    assert len({each.partition("@")[0] for each in used}) == len(used)


@pytest.fixture
def checks(tmp_path):
    """Runs `.ci/run` where no program is, and returns which of those that it might run were run."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("bash", "dirname", "mktemp", "tee", "grep", "tail", "rm"):
        (programs / name).symlink_to(shutil.which(name) or pytest.skip(f"{name} is missing"))
    for name in ("apt-get", "make"):
        (programs / name).write_text(
            f'#!/bin/sh\necho {name} "$@" >> {tmp_path}/log\n[ $1 != test ] || echo 1 passed\n'
        )
        (programs / name).chmod(0o755)

    def run(user: int, **variables: str) -> set[str]:
        (programs / "id").write_text(f"#!/bin/sh\necho {user}\n")
        (programs / "id").chmod(0o755)
        subprocess.run(
            [ROOT / ".ci/run"], env={"PATH": str(programs), **variables}, check=True, stdout=subprocess.DEVNULL
        )
        return {line.split()[0] for line in (tmp_path / "log").read_text().splitlines()}

    return run


@pytest.mark.parametrize(
    ("user", "variables"), [(1000, {}), (1000, {"CI": "true"}), (0, {"CI": "true", "NODEWRIGHT_CI_INSTALL": "no"})]
)
def test_the_checks_install_nothing_unasked(checks, user, variables) -> None:
    assert checks(user, **variables) == {"make"}


@pytest.mark.parametrize(("user", "variables"), [(0, {"CI": "true"}), (1000, {"NODEWRIGHT_CI_INSTALL": "yes"})])
def test_the_checks_install_what_tests_need_where_nobody_minds(checks, user, variables) -> None:
    assert checks(user, **variables) == {"apt-get", "make"}


@pytest.mark.skipif(not os.path.exists("/.dockerenv"), reason="this is no container of Docker")
def test_the_checks_install_what_tests_need_as_root_in_a_container(checks) -> None:
    assert checks(0) == {"apt-get", "make"}
