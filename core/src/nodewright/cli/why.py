"""``nodewright why``: what would happen to a pod, a node or a group now, and why."""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from nodewright.api.command import Command
from nodewright.cli.output import TABLE, add_output, output_flags, output_of, written
from nodewright.cli.table import folded, screen_width

if TYPE_CHECKING:
    from nodewright.config.flags import Flags
    from nodewright.config.model import Settings
    from nodewright.explain.look import Look
    from nodewright.record.history import Mention
    from nodewright.runtime.autoscaler import Autoscaler

_KINDS = ("pod", "node", "group")
_USAGE = "nodewright why pod|node|group NAME [-o FORMAT] [--record FILE] [flags]"
_HELP = """\
Reads the cluster once and decides as the loop would, but changes nothing. It also reads the memory of the running \
autoscaler: how long a node has been unneeded, and which groups are backed off.

Where the names of groups are URLs, the last part of one is enough. An object that names a group in its cloud's own \
words may stand for it as KIND/ID, such as AWSAutoScalingGroup/ARN.

A pod that runs is told with what the record says of it. One that is gone is known from the record alone: the file \
that record.path names, or a copy of it that --record names.

The other flags are those of `nodewright run`: --config FILE, and Cluster Autoscaler's."""


class WhyCommand(Command):
    """Answers one question about one decision."""

    passthrough: ClassVar[bool] = True
    examples: ClassVar[Mapping[str, str]] = {
        "nodewright why pod shop/web-7d9f --config nodewright.yaml": "why it waits, where it runs, what became of it",
        "nodewright why node base-3 --config nodewright.yaml": "why it stays, and what it would take for it to go",
        "nodewright why group base --config nodewright.yaml -o json": "how it is, for programs",
    }

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Describe the usage. `run` parses the words."""
        parser.usage = _USAGE
        parser.epilog = _HELP
        parser.add_argument("kind", choices=_KINDS, help="what is asked about")
        parser.add_argument("name", metavar="NAME", help="its name; of a pod, NAMESPACE/NAME")
        add_output(parser)
        parser.add_argument("--record", metavar="FILE", help="the record of decisions (default: record.path)")

    def run(self, arguments: Namespace) -> int:
        """Print the answer. Raises `UnknownError` if there is no such object. Return 2 for wrong usage."""
        from nodewright.api.nearest import nearest
        from nodewright.config.flag import Flag
        from nodewright.config.flags import parse_flags

        flags = parse_flags(arguments.rest, own=(*output_flags(), Flag("record", "string")), words=2)
        match flags.words:
            case (kind, name, *_) if kind in _KINDS:
                print(_answer(kind, name, flags))
                return 0
            case (kind, *_) if kind not in _KINDS and (meant := nearest(kind, _KINDS)):
                print(f"usage: {_USAGE}\nnodewright why: {kind}: did you mean {meant}?", file=sys.stderr)
            case _:
                print(f"usage: {_USAGE}", file=sys.stderr)
        return 2


def _answer(kind: str, name: str, flags: "Flags") -> str:
    from nodewright.cli.start import looking
    from nodewright.explain.documents import group_document, node_document

    form = output_of(flags)
    with looking(flags) as (autoscaler, settings, _):
        look = autoscaler.look()
        match kind:
            case "pod":
                record = flags.own.get("record") or settings.record.path
                document = _about_pod(autoscaler, look, name, Path(record) if record else None, settings)
            case "node":
                document = node_document(look, name)
            case _:
                document = group_document(look, _group_called(name, autoscaler, look))
    return folded("\n".join(document["words"]), screen_width()) if form == TABLE else written(document, form)


def _group_called(name: str, autoscaler: "Autoscaler", look: "Look") -> str:
    """Return the group of that *name*, or the one that an object KIND/ID names in its cloud's own words."""
    if any(group.id == name for group in look.findings.groups):
        return name
    kind, _, id_ = name.partition("/")
    return autoscaler.resolve(kind, id_) or name


def _about_pod(
    autoscaler: "Autoscaler", look: "Look", name: str, record: Path | None, settings: "Settings"
) -> dict[str, Any]:
    """Return what is known of a pod: from the cluster, or else from the *record*."""
    from nodewright.explain.documents import pod_document
    from nodewright.explain.explanation import UnknownError

    key = name if "/" in name else _with_namespace(name, look)
    seen = autoscaler.find_pod(key)
    history, source = _history(key, record)
    try:
        document = pod_document(look, key, seen)
    except UnknownError as error:
        if not history:
            raise UnknownError(f"{str(error).removesuffix('?')}; {source}") from None
        document = {"kind": "pod", "name": key, "state": "gone", "words": [f"pod {key} does not exist (any more)"]}
    if document["state"] == "waiting":
        return document
    words = [*document["words"], *_told(history, source)]
    entries = [_entry(each) for each in history]
    return {**document, **({"history": entries} if entries else {}), "words": words}


def _with_namespace(name: str, look: "Look") -> str:
    """Return the key of the only pod of that *name*. Raises `UnknownError` if there is none, or more than one."""
    from nodewright.explain.explanation import UnknownError

    keys = sorted(key for key in look.world.cluster.pods if key.partition("/")[2] == name)
    if len(keys) == 1:
        return keys[0]
    which = f"name one of {', '.join(keys)}" if keys else "write NAMESPACE/NAME; without a namespace, none is found"
    raise UnknownError(f"pod {name}: {which}")


def _history(key: str, record: Path | None) -> tuple[list["Mention"], str]:
    """Return what the *record* says of the pod *key*, and in words where that was looked for."""
    from nodewright.record.files import lines_of, parts_of
    from nodewright.record.history import mentions

    if record is None:
        return [], "there is no record of decisions to look into: set record.path, or name a file with --record"
    parts = parts_of(record)
    if not parts:
        return [], f"the record {record} is not on this machine: name a copy of it with --record"
    found = list(mentions(lines_of(parts), key))
    return found, f"the record {record} {'says' if found else 'does not name it'}"


def _told(history: list["Mention"], source: str) -> Iterator[str]:
    from nodewright.explain.settled import moment

    yield f"  {source}{':' if history else ''}"
    for each in history:
        yield f"    {moment(each.at)}  {each}"


def _entry(mention: "Mention") -> dict[str, Any]:
    fields = {
        "at": mention.at.isoformat(),
        "action": mention.action,
        "group": mention.group,
        "node": mention.node,
        "count": mention.count or None,
        "why": mention.why,
        "dryRun": mention.dry_run,
        "unsure": mention.unsure,
    }
    return {key: value for key, value in fields.items() if value not in ("", None)}
