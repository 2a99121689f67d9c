"""The mutants can be made, and the hunter tells those that tests notice from those that they do not."""

import subprocess
import sys
from pathlib import Path

from .hunt import mutated
from .mutants import MUTANTS

_HUNTER = Path(__file__).with_name("hunt.py")
#: Mutants with quick tests.
_QUICK = ("the first error counts", "too many calls are no throttling")


def hunt(*words):
    return subprocess.run([sys.executable, _HUNTER, *words], capture_output=True, text=True, check=False, timeout=240)


def test_each_mutant_is_a_change_in_one_place_that_python_understands() -> None:
    for mutant in MUTANTS:
        compile(mutated(mutant), mutant.module, "exec")


def test_mutants_have_names_of_their_own() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS) >= 40


def test_mutants_are_noticed() -> None:
    done = hunt(*_QUICK)

    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("noticed ") == len(_QUICK)


def test_what_no_test_notices_is_told() -> None:
    done = hunt("--unchanged", _QUICK[0])

    assert done.returncode == 1, done.stdout + done.stderr
    assert "SURVIVED" in done.stdout
