"""``cluster-autoscaler [flags]``: `nodewright run` under the name that manifests of Cluster Autoscaler use."""

import sys
from collections.abc import Sequence
from typing import NoReturn

from nodewright.cli.exit_status import ExitStatus
from nodewright.cli.main import dispatch, guarded, leave

_HELP = {"-h", "-help", "--help"}
_VERSION = {"-version", "--version"}
_HEAD = """\
usage: cluster-autoscaler [flags]

This is Nodewright, which accepts the flags of Cluster Autoscaler. It does the same as `nodewright run`.

Exit status: 0 stopped by a signal, 2 wrong flags or configuration, 255 can't go on.

Flags, and the settings that they stand for in the file that --config names:"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the autoscaler with the flags *argv* (by default the program's own) and return its exit status."""
    words = sys.argv[1:] if argv is None else list(argv)
    status = guarded(lambda: _run(words))
    # The Go program has this one status when it can't go on.
    return ExitStatus.LOST if status == ExitStatus.FAILED else status


def program() -> NoReturn:
    """Run the program's own command line and end the process, whatever threads plugins have left running."""
    leave(main())


def _run(words: Sequence[str]) -> int:
    if _HELP & set(words):
        print(overview())
        return 0
    if _VERSION & set(words):
        return dispatch(["--version"])
    return dispatch(["run", *words])


def overview() -> str:
    """Return the help text: all flags by topic, each with its default and what it sets."""
    # They bring the model of the whole configuration along. `run` needs it too, but not these pages.
    from nodewright.cli.table import aligned, screen_width
    from nodewright.config.flag_table import GROUPS
    from nodewright.config.flags_page import meaning

    parts = [_HEAD]
    for title, flags in GROUPS.items():
        rows = [
            (f"  --{flag.name} {flag.type}", flag.default, meaning(flag).replace("`", "").replace("*", ""))
            for flag in flags
        ]
        parts.append(f"{title}:\n{aligned(rows, width=screen_width())}")
    return "\n\n".join(parts)
