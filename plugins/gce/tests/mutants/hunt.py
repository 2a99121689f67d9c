"""Hunts mutants: ``python plugins/gce/tests/mutants/hunt.py [NAME ...]`` tells which of them no test notices.

Tests that are known to notice a mutant come first; if they do not, all tests of groups, lists and calls and the
conformance suite follow. Each mutant lives in a copy of the package and in a process of its own. With ``--unchanged``
nothing is mutated, and only the first tests run: they must pass.
"""

import os
import shutil
import sys
import tempfile
from importlib import import_module
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
    return fails(mutant, mutated(mutant), tests)


def fails(mutant, changed, tests):
    """Whether one of *tests* fails if the text of the mutant's module is *changed*."""
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


def _import_what_does_not_change():
    """Import once what each process would import."""
    for module in ("pytest", "google.auth.transport.requests", "nodewright.testing.conformance", "prometheus_client"):
        import_module(module)


def _run(folder, tests):
    import pytest

    sys.path.insert(0, folder)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.chdir(_ROOT)
    words = [str(_TESTS / each) if "/" in each or (_TESTS / each).exists() else each for each in tests.split()]
    return int(pytest.main(["-q", "-x", "-p", "no:cacheprovider", "-p", "no:randomly", *words]))


def main(names):
    """Print what became of the mutants of these names, or of all."""
    from mutants import MUTANTS

    _import_what_does_not_change()
    unchanged = "--unchanged" in names
    names = [name for name in names if name != "--unchanged"]
    survivors = []
    for mutant in MUTANTS:
        if names and mutant.name not in names:
            continue
        if unchanged:
            noticed = fails(mutant, (source() / mutant.module).read_text(), mutant.tests)
        else:
            noticed = is_noticed(mutant, mutant.tests) or is_noticed(mutant, _ALL)
        sys.stdout.write(f"{'noticed ' if noticed else 'SURVIVED'} {mutant.module}: {mutant.name}\n")
        sys.stdout.flush()
        survivors += [] if noticed else [mutant.name]
    sys.stdout.write(f"{len(survivors)} survived: {', '.join(survivors) or 'none'}\n")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
