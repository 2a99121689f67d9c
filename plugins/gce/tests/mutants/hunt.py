"""Hunts mutants: ``python plugins/gce/tests/mutants/hunt.py [WORD ...]`` tells which of them no test notices.

Tests that are known to notice a mutant come first; if they do not, all tests of groups, lists and calls and the
conformance suite follow. Each mutant lives in a copy of the package and in a process of its own.
"""

import os
import shutil
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

_TESTS = Path(__file__).resolve().parent.parent
_ROOT = _TESTS.parent.parent.parent
_ALL = "groups migs capacity calls config test_call_counts.py templates test_conformance.py"


def source():
    """The package that mutants are made of."""
    spec = find_spec("nodewright_gce")
    return Path(spec.submodule_search_locations[0])


def mutated(mutant):
    """The text of the mutant's module; raises `ValueError` if it can't be changed in one place."""
    text = (source() / mutant.module).read_text()
    if text.count(mutant.before) != 1:
        raise ValueError(f"{mutant.name}: {mutant.before!r} is {text.count(mutant.before)} times in {mutant.module}")
    return text.replace(mutant.before, mutant.after)


def is_noticed(mutant, tests):
    """Whether one of *tests* fails with the mutant."""
    changed = mutated(mutant)
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder) / "nodewright_gce"
        shutil.copytree(source(), package, ignore=shutil.ignore_patterns("__pycache__"))
        (package / mutant.module).write_text(changed)
        child = os.fork()
        if not child:
            os._exit(_run(folder, tests))
        _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    if code not in (0, 1):
        raise RuntimeError(f"{mutant.name}: the tests could not be run (pytest ended with {code})")
    return code == 1


def _run(folder, tests):
    import pytest

    sys.path.insert(0, folder)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.chdir(_ROOT)
    words = [str(_TESTS / each) if "/" in each or (_TESTS / each).exists() else each for each in tests.split()]
    return int(pytest.main(["-q", "-x", "-p", "no:cacheprovider", "-p", "no:randomly", *words]))


def main(words):
    """Print what became of each mutant whose name contains one of *words*, or of all."""
    from mutants import MUTANTS

    survivors = []
    for mutant in MUTANTS:
        if words and not any(word in mutant.name for word in words):
            continue
        noticed = is_noticed(mutant, mutant.tests) or is_noticed(mutant, _ALL)
        print(f"{'noticed ' if noticed else 'SURVIVED'} {mutant.module}: {mutant.name}", flush=True)
        survivors += [] if noticed else [mutant.name]
    print(f"{len(survivors)} survived: {', '.join(survivors) or 'none'}")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
