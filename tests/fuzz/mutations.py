"""Mutations: what becomes of a good document in hostile hands, in structure and in bytes."""

import copy
import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

Place = tuple[Any, Any]

#: Values that some reader somewhere takes for something else.
_VALUES: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    -1,
    1,
    0.5,
    -0.0,
    1e-320,
    1e308,
    float("inf"),
    float("nan"),
    2**31,
    2**63 - 1,
    2**63,
    -(2**63) - 1,
    2**64,
    10**30,
    "",
    " ",
    "\x00",
    "\x1b[31m",
    "\ud800",
    "\udcff",
    "\u202e",
    "\u2028",
    "x" * 5000,
    "9" * 5000,
    "null",
    "~",
    "-",
    "..",
    "../../../etc/passwd",
    "{{",
    "(((((a+)+)+)+)+)+$",
    "[",
    "*",
    "1e400",
    "1e9",
    "99999999999999999999",
    "9223372036854775807",
    "1000000000E",
    "-5Gi",
    "1h1h",
    "999999999h",
    "1e300s",
    "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59Z",
    "2026-13-45T99:99:99Z",
    "1900-01-01T00:00:00+23:59",
    [],
    {},
    [[]],
    [None],
    {"": None},
    {"a": {"a": {"a": "a"}}},
    [{}] * 40,
)


def structure(document: Any, dice: Random) -> Any:
    """Return a copy of *document* with one to five changes of its structure."""
    mutant = {"document": copy.deepcopy(document)}
    for _ in range(dice.choice((1, 1, 1, 2, 3, 5))):
        places = [place for place in _places(mutant) if place[0] is not mutant] or list(_places(mutant))
        dice.choice(_CHANGES)(dice.choice(places), places, dice)
    return mutant["document"]


def octets(text: bytes, dice: Random) -> bytes:
    """Return *text* with one to four changes of its bytes."""
    for _ in range(dice.choice((1, 1, 2, 4))):
        text = dice.choice(_SPOILS)(text, dice)
    return text


def bomb(dice: Random) -> bytes:
    """Return a document that is small in a file and huge, deep or strange in memory."""
    depth = dice.choice((50, 500, 5_000, 100_000))
    width = dice.choice((2, 10))
    return dice.choice(
        (
            b"[" * depth,
            b"[" * depth + b"]" * depth,
            b'{"a":' * depth + b"1" + b"}" * depth,
            b'{"nodes":' + b"[" * depth + b"]" * depth + b"}",
            b"nodes: " + b"[" * depth + b"]" * depth,
            b"nodes: " + b"{a: " * depth + b"}" * depth,
            "".join(f"{' ' * level}a:\n" for level in range(min(depth, 2000))).encode(),
            b"- " * min(depth, 5000) + b"a",
            _aliases(width, 25, "nodes"),
            _aliases(width, 25, "scaleUp"),
            b"a: &a\n  b: *a\n",
            b"nodes: &a [*a, *a]\n",
            b"<<: &a {<<: *a}\n",
            b"? {a: b}\n: c\n",
            b"!!python/object/apply:os.system [true]\n",
            b"a: !!binary aGVsbG8=\nb: !!set {a}\n",
            b"a: 1\n---\na: 2\n",
            b"%YAML 9.9\n---\na: 1\n",
            b'{"a": 1}{"a": 2}',
            b'{"now": NaN, "nodes": [Infinity]}',
            b'{"nodes": "\\ud800"}',
            b"\xff\xfe{\x00}\x00",
            b"\xef\xbb\xbf{}",
            b"",
            b"\n\n\n",
            b"\x00" * 1000,
            b"<html><body>502 Bad Gateway</body></html>",
            b"a: " + b"9" * 10_000,
            b"9" * 10_000,
            b"a: 0x" + b"f" * 10_000,
            b'"' + b"a" * 1_000_000,
            b"a" * 1_000_000,
            b"a: b: c\n\t- d",
        )
    )


def _aliases(width: int, levels: int, key: str) -> bytes:
    """Return YAML whose aliases stand for *width* to the power of *levels* values."""
    lines = ["l0: &l0 [x, x]"]
    lines += [f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * width)}]" for n in range(1, levels)]
    return "\n".join([*lines, f"{key}: *l{levels - 1}", ""]).encode()


def as_json(document: Any, dice: Random) -> bytes:
    """Return *document* as JSON, sometimes with letters outside ASCII as they are."""
    return json.dumps(document, ensure_ascii=dice.random() < 0.7).encode("utf-8", "surrogatepass")


def _places(parent: Any) -> Iterator[Place]:
    """Yield every place in *parent*, as a container and a key."""
    keys = list(parent) if isinstance(parent, dict) else range(len(parent)) if isinstance(parent, list) else ()
    for key in keys:
        yield parent, key
        yield from _places(parent[key])


def _replace(place: Place, places: list[Place], dice: Random) -> None:
    parent, key = place
    if _there(place):
        parent[key] = copy.deepcopy(dice.choice(_VALUES))


def _drop(place: Place, places: list[Place], dice: Random) -> None:
    parent, key = place
    if _there(place):
        del parent[key]


def _repeat(place: Place, places: list[Place], dice: Random) -> None:
    parent, key = place
    if isinstance(parent, list) and _there(place):
        parent += [copy.deepcopy(parent[key]) for _ in range(dice.choice((1, 2, 30)))]


def _transplant(place: Place, places: list[Place], dice: Random) -> None:
    parent, key = place
    other, there = dice.choice(places)
    if _there(place) and _there((other, there)):
        parent[key] = copy.deepcopy(other[there])


def _rename(place: Place, places: list[Place], dice: Random) -> None:
    parent, key = place
    if isinstance(parent, dict) and _there(place):
        parent[dice.choice(("", "\ud800", key.upper(), key + " ", "__class__", "x" * 300, "a.b[0]"))] = parent.pop(key)


def _scratch(place: Place, places: list[Place], dice: Random) -> None:
    """Change a letter of a text, or a number a little."""
    parent, key = place
    value = parent[key] if _there(place) else None
    if isinstance(value, str) and value:
        at = dice.randrange(len(value))
        parent[key] = value[:at] + dice.choice("0-.:/,=*%\n\t é\U0001f4a5\x7f") + value[at + dice.choice((0, 1)) :]
    elif isinstance(value, int | float) and not isinstance(value, bool):
        parent[key] = dice.choice((-value, value * 1000, value + 0.5, str(value), value - 1))


def _there(place: Place) -> bool:
    """Tell whether *place* is still there after changes before this one."""
    parent, key = place
    return key in parent if isinstance(parent, dict) else key < len(parent)


_CHANGES: tuple[Callable[[Place, list[Place], Random], None], ...] = (
    _replace,
    _replace,
    _replace,
    _drop,
    _repeat,
    _transplant,
    _rename,
    _scratch,
    _scratch,
)


def _flip(text: bytes, dice: Random) -> bytes:
    at = dice.randrange(len(text) + 1)
    return text[:at] + bytes([dice.randrange(256)]) + text[at + 1 :]


def _insert(text: bytes, dice: Random) -> bytes:
    at = dice.randrange(len(text) + 1)
    thing = dice.choice((b"\x00", b"\xff", b"\xed\xa0\x80", b"{", b"[", b'"', b":", b"&a ", b"*a ", b"\r", b"#", b"!!"))
    return text[:at] + thing * dice.choice((1, 1, 1, 1000)) + text[at:]


def _cut(text: bytes, dice: Random) -> bytes:
    return text[: dice.randrange(len(text) + 1)]


def _cut_out(text: bytes, dice: Random) -> bytes:
    begin = dice.randrange(len(text) + 1)
    return text[:begin] + text[begin + dice.randrange(1, 60) :]


def _copy_over(text: bytes, dice: Random) -> bytes:
    begin, to = dice.randrange(len(text) + 1), dice.randrange(len(text) + 1)
    return text[:to] + text[begin : begin + dice.randrange(1, 200)] + text[to:]


_SPOILS: tuple[Callable[[bytes, Random], bytes], ...] = (_flip, _flip, _insert, _cut, _cut_out, _copy_over)
