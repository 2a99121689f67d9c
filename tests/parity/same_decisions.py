"""Whether two commits decide the same: ``python -m tests.parity.same_decisions OLD [NEW]``.

Both decide about all vectors and about generated scenarios, loop after loop, each in a process of its own; a decision
is the same if its JSON is, byte for byte. Without NEW, OLD is compared with the working tree. The scenarios, and how
the world goes on after a decision, are those of the working tree.

Exit status: 0 all decisions are the same, 1 some differ, 2 wrong usage, or a commit that can't decide.
"""

import json
import os
import signal
import subprocess
import sys
import tomllib
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import islice, zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO

from tests.parity.generated import generated
from tests.parity.generated.dice import Dice
from tests.parity.vectors import FOLDER, Vector, families, read, sample

ROOT = Path(__file__).parents[2]
#: How often is decided about a vector; most of its nodes are not unneeded for long enough before.
_LOOPS_OF_VECTORS = 3
_LOOPS = (3, 4, 4, 5, 8)
_MOST_LINES = 30
_MOST_TEXT = 300


class ComparisonError(Exception):
    """Nothing can be compared, and why."""


@dataclass(frozen=True, kw_only=True)
class Difference:
    """The first decision about a scenario that differs; nothing where one side has decided no more."""

    scenario: str
    old: bytes
    new: bytes

    def __str__(self) -> str:
        old, new = (json.loads(each) if each else None for each in (self.old, self.new))
        told = new or old
        where = f"loop {told['loop']}, {told['kind']}" if told and "loop" in told else "at the end"
        lines = list(islice(_differing(old, new, ""), _MOST_LINES + 1))
        more = ["..."] if len(lines) > _MOST_LINES else []
        return "\n    ".join([f"{self.scenario}, {where}:", *lines[:_MOST_LINES], *more])


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """What came of comparing two commits."""

    scenarios: int
    decisions: int
    #: Scenarios that can't be decided about, with the reason, by one or both.
    failures: tuple[str, ...]
    #: How many decisions of scenarios are not the same.
    different: int
    #: The first one of each scenario: those after it are made on another world.
    differences: tuple[Difference, ...]


def scenarios(generated_count: int, vectors_per_family: int | None = None) -> Iterator[dict[str, Any]]:
    """Yield so many generated scenarios and vectors, with how often each is decided about."""
    for vector in _vectors(vectors_per_family):
        yield {"name": vector.name, "document": vector.scenario, "loops": _LOOPS_OF_VECTORS}
    for seed in range(generated_count):
        dice = Dice(f"loops of {seed}")
        yield {
            "name": f"generated/{seed}",
            "document": generated(seed),
            "loops": dice.pick(_LOOPS),
            "meddled": dice.chance(12),
        }


def _vectors(most: int | None) -> Iterator[Vector]:
    known = set()
    for vector in sample() if most is None or most else ():
        known.add(vector.name)
        yield vector
    for family in families(FOLDER):
        for vector in islice(read(family), most):
            if vector.name not in known:
                yield vector


def compare(old: Path, new: Path, documents: Iterable[dict[str, Any]], folder: Path) -> Comparison:
    """Compare what the code in two trees decides about scenarios; *folder* is for files on the way.

    Raises `ComparisonError` if one of the trees can't decide.
    """
    asked = folder / "scenarios.jsonl"
    names = []
    with asked.open("w") as file:
        for document in documents:
            names.append(document["name"])
            file.write(json.dumps(document) + "\n")
    answers = [folder / "old.jsonl", folder / "new.jsonl"]
    with ExitStack() as stack:
        workers = [
            stack.enter_context(_worker(tree, asked, told, folder / f"{told.stem}-site"))
            for tree, told in zip((old, new), answers, strict=True)
        ]
        for worker in workers:
            worker.wait()
    with answers[0].open("rb") as one, answers[1].open("rb") as other:
        return _compared(names, _by_scenario(one), _by_scenario(other))


def _compared(names: Sequence[str], old: Iterator[list[bytes]], new: Iterator[list[bytes]]) -> Comparison:
    decisions = different = 0
    differences, failures = [], []
    for name, *sides in zip(names, old, new, strict=True):
        failed = [line for lines in sides for line in lines if b'"error":' in line[:10]]
        failures += [f"{name}: {json.loads(line)['error']}" for line in failed[:1]]
        decisions += max(map(len, sides)) - bool(failed)
        unequal = [pair for pair in zip_longest(*sides, fillvalue=b"") if pair[0] != pair[1]]
        different += len(unequal)
        if unequal:
            differences.append(Difference(scenario=name, old=unequal[0][0], new=unequal[0][1]))
    return Comparison(
        scenarios=len(names),
        decisions=decisions,
        failures=tuple(failures),
        different=different,
        differences=tuple(differences),
    )


def _by_scenario(lines: BinaryIO) -> Iterator[list[bytes]]:
    found: list[bytes] = []
    for line in lines:
        if line != b"\n":
            found.append(line)
            continue
        yield found
        found = []


class _Worker:
    """A process that decides."""

    def __init__(self, tree: Path, process: "subprocess.Popen[bytes]", errors: Path) -> None:
        self._tree, self._process, self._errors = tree, process, errors

    def wait(self) -> None:
        """Wait for its end; raises `ComparisonError` if that is not a good one."""
        if self._process.wait() != 0:
            raise ComparisonError(f"the code in {self._tree} can't decide:\n{self._errors.read_text().strip()}")


@contextmanager
def _worker(tree: Path, asked: Path, told: Path, site: Path) -> Iterator[_Worker]:
    """Start to decide by the code in *tree*, and end the process in any case."""
    path = [site, *_sources(tree), ROOT]
    _register(tree, site)
    # Where sets of texts are walked, each walk is the same.
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path)), "PYTHONHASHSEED": "0"}
    words = [sys.executable, "-P", "-m", "tests.parity.deciding", str(tree), str(asked), str(told)]
    errors = told.with_suffix(".errors")
    with errors.open("wb") as file:
        process = subprocess.Popen(words, env=environment, stdin=subprocess.DEVNULL, stdout=file, stderr=file)
    try:
        yield _Worker(tree, process, errors)
    finally:
        process.kill()
        process.wait()


def _sources(tree: Path) -> list[Path]:
    """Return the folders of *tree* from which its distributions are imported."""
    found = [tree / "core" / "src", *sorted(tree.glob("plugins/*/src"))]
    if not found[0].is_dir():
        raise ComparisonError(f"there is no core/src in {tree}")
    return found


def _register(tree: Path, site: Path) -> None:
    """Write into the folder *site* the entry points that the distributions in *tree* have, whatever is installed."""
    for source in _sources(tree):
        project = tomllib.loads((source.parent / "pyproject.toml").read_text())["project"]
        info = site / f"{project['name'].replace('-', '_')}-0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: 0\n")
        lines = []
        for group, entries in project.get("entry-points", {}).items():
            lines += [f"[{group}]", *(f"{name} = {place}" for name, place in entries.items())]
        (info / "entry_points.txt").write_text("\n".join([*lines, ""]))


def _differing(old: Any, new: Any, path: str) -> Iterator[str]:
    """Yield a line for each place in which two decisions differ."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in dict.fromkeys([*old, *new]):
            if old.get(key) != new.get(key) or (key in old) != (key in new):
                yield from _differing(old.get(key), new.get(key), f"{path}.{key}" if path else key)
            elif json.dumps(old[key]) != json.dumps(new[key]):
                yield from _differing(old[key], new[key], f"{path}.{key}" if path else key)
        if old.keys() == new.keys() and list(old) != list(new):
            yield f"{path}: in the order {', '.join(old)}, now {', '.join(new)}"
    elif isinstance(old, list) and isinstance(new, list):
        for index, (one, other) in enumerate(zip_longest(old, new)):
            if json.dumps(one) != json.dumps(other):
                yield from _differing(one, other, f"{path}[{index}]")
    else:
        yield f"{path}: {_shown(old)}, now {_shown(new)}"


def _shown(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= _MOST_TEXT else f"{text[:_MOST_TEXT]}..."


@contextmanager
def checked_out(commit: str, folder: Path) -> Iterator[Path]:
    """Check *commit* out into *folder*, and leave nothing of that behind; raises `ComparisonError` if it can't be."""
    _git("worktree", "add", "--quiet", "--detach", str(folder), _commit(commit))
    try:
        yield folder
    finally:
        _git("worktree", "remove", "--force", str(folder))


def _commit(name: str) -> str:
    return _git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}", about=name)


def _git(*words: str, about: str = "") -> str:
    done = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=False)
    if done.returncode:
        trouble = done.stderr.strip() or f"there is no commit {about}"
        raise ComparisonError(trouble)
    return done.stdout.strip()


def _arguments(words: Sequence[str] | None) -> Namespace:
    parser = ArgumentParser(
        prog="python -m tests.parity.same_decisions", description=__doc__, formatter_class=RawDescriptionHelpFormatter
    )
    parser.add_argument("old", metavar="OLD", help="a commit")
    parser.add_argument("new", metavar="NEW", nargs="?", help="another one; the working tree if it is not given")
    parser.add_argument("--generated", type=int, default=1000, metavar="N", help="so many; default: %(default)s")
    parser.add_argument(
        "--vectors",
        type=int,
        metavar="N",
        help="so many of each family besides those kept here; 0: none at all; default: all",
    )
    parser.add_argument("--show", type=int, default=3, metavar="N", help="differences; default: %(default)s")
    return parser.parse_args(words)


def main(words: Sequence[str] | None = None) -> int:
    """Compare as *words*, or the command line, say; print what came of it and return the exit status."""
    arguments = _arguments(words)
    try:
        with TemporaryDirectory(prefix="same-decisions-") as name, ExitStack() as stack:
            folder = Path(name)
            trees = [
                ROOT if commit is None else stack.enter_context(checked_out(commit, folder / side))
                for side, commit in (("old-tree", arguments.old), ("new-tree", arguments.new))
            ]
            found = compare(*trees, scenarios(arguments.generated, arguments.vectors), folder)
    except ComparisonError as error:
        print(f"nothing was compared: {error}", file=sys.stderr)
        return 2
    for difference in found.differences[: arguments.show]:
        print(f"{difference}\n")
    for failure in found.failures[: arguments.show]:
        print(f"can't be decided about: {failure}")
    print(f"{found.decisions} decisions about {found.scenarios} scenarios: {found.different} differ")
    if found.differences:
        print(f"scenarios with a difference: {len(found.differences)}")
    if found.failures:
        print(f"scenarios that can't be decided about: {len(found.failures)}")
    return 1 if found.differences else 2 if found.failures else 0


def _end(number: int, frame: object) -> None:
    sys.exit(128 + number)


if __name__ == "__main__":
    # As after Ctrl-C, nothing is left behind.
    signal.signal(signal.SIGTERM, _end)
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
