"""Command lines with hostile files and words: what a seed makes, and how one is run."""

import copy
import gzip
import json
import re
import shlex
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib import resources
from io import BytesIO, TextIOWrapper
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any
from unittest.mock import patch

import yaml
from nodewright.cli.main import guarded, main

from tests.fuzz.mutations import as_json, bomb, octets, structure
from tests.parity.generated import generated

#: Seconds of the processor that a command may take: other tests run beside this one.
LIMIT = 5.0

_DOCS = Path(__file__).parents[2] / "docs"
_SETUPS = Path(__file__).parents[1] / "deploy" / "setups"


class Hang(BaseException):
    """A command took too long. No `Exception`: nothing on the way must catch it."""


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """A command line, and the files that it names."""

    words: tuple[str, ...]
    files: dict[str, bytes] = field(default_factory=dict)
    stdin: bytes = b""
    #: What runs it in place of the program's own `main`.
    program: Callable[[list[str]], int] = main

    def __str__(self) -> str:
        sizes = ", ".join(f"{name}: {len(text)} bytes" for name, text in self.files.items())
        return f"nodewright {shlex.join(self.words)[:300]!a} ({sizes})"


def attempt(seed: int) -> Attempt:
    """Return the attempt that *seed* makes."""
    dice = Random(f"attempt {seed}")
    return dice.choice(_KINDS)(dice)


def fault(attempt: Attempt, folder: Path) -> str:
    """Run *attempt* in *folder*; return what is wrong with how it ended, empty if nothing is."""
    for name, text in attempt.files.items():
        (folder / name).write_bytes(text)
    words = [str(folder / word) if word in attempt.files else word for word in attempt.words]
    out, err = (TextIOWrapper(BytesIO(), encoding="utf-8", errors="backslashreplace") for _ in range(2))
    stdin = TextIOWrapper(BytesIO(attempt.stdin), encoding="utf-8")
    try:
        with patch.object(sys, "stdin", stdin), redirect_stdout(out), redirect_stderr(err), _time_limit():
            status = attempt.program(words)
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 1
    except Hang:
        return f"took over {LIMIT:.0f} s"
    except BaseException:
        return traceback.format_exc()
    finally:
        for name in attempt.files:
            (folder / name).unlink(missing_ok=True)
    said = _text_of(err)
    if "Traceback (most recent call last)" in said:
        return said
    if status not in _STATUSES:
        return f"ended with status {status}"
    if status and not said.strip() and not _text_of(out).strip():
        return f"ended with status {status} and said nothing"
    return f"said too much: {len(said)} letters" if len(said) > _MUCH else ""


_STATUSES = (0, 1, 2, 3)
_MUCH = 200_000


def _text_of(stream: TextIOWrapper) -> str:
    stream.flush()
    buffer: Any = stream.buffer
    return str(buffer.getvalue().decode("utf-8", "replace"))


@contextmanager
def _time_limit() -> Iterator[None]:
    """Raise `Hang` in the body if it takes too long."""

    def strike(number: int, frame: FrameType | None) -> None:
        raise Hang

    before = signal.signal(signal.SIGPROF, strike)
    signal.setitimer(signal.ITIMER_PROF, LIMIT)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _decide(dice: Random) -> Attempt:
    form = dice.choice(("json", "json", "yaml", "jsonl", "jsonl.gz", "gz", "-"))
    text = _mutant(_scenario(dice.randrange(40)), dice, in_yaml=form == "yaml")
    if form.startswith("jsonl"):
        lines = [text, _mutant(_scenario(dice.randrange(40)), dice)]
        text = b"\n".join(line.replace(b"\n", b" ") for line in lines)
    if form.endswith("gz"):
        text = gzip.compress(text, 1)
        text = octets(text, dice) if dice.random() < 0.3 else text
    output = dice.choice(((), (), ("-o", "json")))
    settings = (f"--set={_word(dice)}={_word(dice)}",) if dice.random() < 0.1 else ()
    if form == "-":
        return Attempt(words=("decide", "-", *output, *settings), stdin=text)
    name = f"scenario.{form}"
    return Attempt(words=("decide", name, *output, *settings), files={name: text})


def _config(dice: Random) -> Attempt:
    words = dice.choice(
        (
            ("config", "check", "config.yaml"),
            ("config", "check", "config.yaml"),
            ("config", "show", "config.yaml", "--live=false"),
            ("config", "show", "config.yaml", "--live=false", "-o", "json"),
            ("config", "show", "config.yaml", "--live=false", "-o", "yaml"),
            ("config", "from-flags", "--config", "config.yaml"),
            ("plugins", "--config", "config.yaml"),
            ("manifests", "--config", "config.yaml"),
        )
    )
    return Attempt(words=words, files={"config.yaml": _mutant(_configuration(), dice, in_yaml=True)})


def _flags(dice: Random) -> Attempt:
    from nodewright.config.flag_table import FLAGS

    names = [*FLAGS, "config", "", "-", "v", "\udcff"]
    words = []
    for _ in range(dice.randrange(1, 5)):
        dashes, name = dice.choice(("--", "--", "-", "", "---")), dice.choice(names)
        words += dice.choice(([f"{dashes}{name}={_word(dice)}"], [f"{dashes}{name}", _word(dice)], [_word(dice)]))
    return Attempt(words=("config", "from-flags", *words))


def _words(dice: Random) -> Attempt:
    """Wrong words for any command that does not run on."""
    command = dice.choice(
        ("config", "decide", "dump", "manifests", "migrate", "new", "plugins", "shadow", "why", "world", "")
    )
    words = [
        dice.choice((_word(dice), _word(dice), "--help", "-o", "--", "pod", "json")) for _ in range(dice.randrange(4))
    ]
    # No kubeconfig: what asks a cluster ends at once.
    return Attempt(words=(command or _word(dice), *words, *(("--kubeconfig=/dev/null",) if command == "why" else ())))


def _shadow(dice: Random) -> Attempt:
    lines = [_mutant(line, dice) if dice.random() < 0.5 else as_json(line, dice) for line in _record()]
    text = b"\n".join(line.replace(b"\n", b" ") for line in lines)
    more = dice.choice(((), ("--all",), ("--last", dice.choice(("1h", _word(dice)))), ("--tolerate", _word(dice))))
    return Attempt(words=("shadow", "report", "record.jsonl", *more), files={"record.jsonl": text})


def _migrate(dice: Random) -> Attempt:
    documents = copy.deepcopy(_setup(dice.choice(_setups())))
    at = dice.randrange(len(documents))
    parts = [
        _mutant(each, dice, in_yaml=True) if at == place else _as_yaml(each) for place, each in enumerate(documents)
    ]
    output = dice.choice(((), ("-o", "values"), ("-o", "config"), ("-o", "json"), ("-o", "yaml")))
    return Attempt(words=("migrate", "setup.yaml", *output), files={"setup.yaml": b"\n---\n".join(parts)})


def _kubeconfig(dice: Random) -> Attempt:
    words = dice.choice((("why", "pod", "default/a"), ("dump",), ("why", "node", _word(dice).lstrip("-") or "a")))
    text = _mutant(_CONTEXT, dice, in_yaml=True)
    return Attempt(words=(*words, "--kubeconfig", "kubeconfig"), files={"kubeconfig": text}, program=_connecting)


def _connecting(words: list[str]) -> int:
    """Read the kubeconfig as every command does that works on a cluster; connect to nothing."""
    from nodewright.kube.transport import connect

    def program() -> int:
        connect(kubeconfig=words[-1], server="", user_agent="fuzzer")
        return 0

    return guarded(program)


def _world(dice: Random) -> Attempt:
    text = _mutant(_world_scenario(), dice, in_yaml=True)
    return Attempt(
        words=("world", "up", "--scenario", "world.yaml"), files={"world.yaml": text}, program=_reading_world
    )


def _reading_world(words: list[str]) -> int:
    """Read the scenario of a world; start none."""
    from nodewright_fake.scenario import load_scenario

    def program() -> int:
        load_scenario(Path(words[-1]))
        return 0

    return guarded(program)


_KINDS: tuple[Callable[[Random], Attempt], ...] = (
    *[_decide] * 8,
    *[_config] * 5,
    *[_flags] * 2,
    *[_words] * 2,
    *[_migrate] * 2,
    *[_shadow] * 1,
    *[_kubeconfig] * 1,
    *[_world] * 1,
)


def _mutant(document: Any, dice: Random, *, in_yaml: bool = False) -> bytes:
    """Return *document* as text, changed in structure, in bytes or in both, or a bomb."""
    way = dice.random()
    if way < 0.06:
        return bomb(dice)
    changed = structure(document, dice) if way < 0.75 else document
    text = _as_yaml(changed) if in_yaml and dice.random() < 0.8 else as_json(changed, dice)
    return octets(text, dice) if way > 0.65 else text


def _as_yaml(document: Any) -> bytes:
    return str(yaml.safe_dump(document, sort_keys=False)).encode("utf-8", "surrogatepass")


def _word(dice: Random) -> str:
    return dice.choice(
        (
            "",
            "a",
            "0",
            "-1",
            "1e999",
            "9" * 400,
            "\udcff",
            "\ud800",
            "a\nb",
            "{",
            "[[[",
            "*a",
            "x" * 3000,
            "../..",
            "/dev/null",
            "/",
            "1:2:3",
            "0:10:a",
            "a=b=c",
            "true",
            "10m",
            "-5s",
            "scaleUp.optionsPerLoop",
            "providers.0",
            "a..b",
            "é\u202e",
            "least-waste,random",
            "(a+)+$",
            "nodewright-my-plugin",
        )
    )


@cache
def _scenario(seed: int) -> dict[str, Any]:
    """Return a small scenario: a large one would make few attempts."""
    document = dict(generated(seed))
    for key in ("nodes", "pods"):
        document[key] = document[key][:12]
    names = {node["metadata"]["name"] for node in document["nodes"]}
    document["nodeToGroup"] = {name: group for name, group in document["nodeToGroup"].items() if name in names}
    return document


@cache
def _configuration() -> Any:
    """Return the example of the documentation, which has every setting."""
    (text, *_) = re.findall(r"```yaml\n(apiVersion: nodewright.*?)```", (_DOCS / "configuration.md").read_text(), re.S)
    return yaml.safe_load(text)


@cache
def _setups() -> list[Path]:
    return sorted(_SETUPS.iterdir())


@cache
def _setup(file: Path) -> list[Any]:
    """Return the documents of a set-up of Cluster Autoscaler."""
    return list(yaml.safe_load_all(file.read_text()))


@cache
def _world_scenario() -> Any:
    return yaml.safe_load(resources.files("nodewright_fake.scenario").joinpath("example.yaml").read_text())


@cache
def _record() -> list[dict[str, Any]]:
    """Return the lines of a record."""
    at = datetime(2026, 1, 1, tzinfo=UTC)
    times = [(at + timedelta(minutes=number)).isoformat() for number in range(5)]
    finding = {"kind": "growth-group", "group": "a", "node": "", "ours": 2, "theirs": 1, "why": "best of 2 options"}
    grow = {
        "action": "grow",
        "group": "a",
        "from": 1,
        "count": 2,
        "pods": ["default/p"],
        "podCount": 1,
        "why": "chosen",
    }
    return [
        {"event": "began", "at": times[0], "format": 1, "version": "0.1.0", "cluster": "c", "dryRun": True},
        {"event": "compared", "at": times[1], "wouldDo": [grow], "findings": [finding]},
        {"event": "failed", "at": times[2], "action": "grow", "target": "a", "error": {"class": "cloud"}},
        {"event": "watched", "at": times[3], "loops": 60},
        json.loads(json.dumps({"event": "ended", "at": times[4], "loops": 3})),
    ]


_CONTEXT = {
    "apiVersion": "v1",
    "kind": "Config",
    "current-context": "c",
    "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u", "namespace": "n"}}],
    "clusters": [{"name": "k", "cluster": {"server": "https://127.0.0.1:1", "insecure-skip-tls-verify": True}}],
    "users": [{"name": "u", "user": {"token": "t", "client-certificate-data": "QQ==", "client-key-data": "QQ=="}}],
}
