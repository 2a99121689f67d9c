"""The least role for a configuration: ``python -m nodewright_gce.policy`` writes it."""

import json
import sys
from argparse import ArgumentParser
from collections.abc import Collection, Sequence
from typing import Any

from nodewright_gce.calls.rights import RIGHTS, Part

#: Needed always, except in a dry run.
BASIC = frozenset({Part.READ_GROUPS, Part.RESIZE_GROUPS})


def policy(parts: Collection[Part] = BASIC) -> dict[str, Any]:
    """Return the least custom role for *parts*, in the form that ``gcloud iam roles create --file`` takes.

    Prices take no permission, and neither does resizing groups of which somebody else chose the service account:
    Google's own agent makes the machines.
    """
    permissions = {right.permission for right in RIGHTS.values() if right.part in parts and right.permission}
    return {
        "title": "Nodewright",
        "description": f"Lets Nodewright {', '.join(part.value for part in Part if part in parts)}.",
        "stage": "GA",
        "includedPermissions": sorted(permissions),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the role for the options on the command line."""
    parser = ArgumentParser(prog="python -m nodewright_gce.policy", description="The least custom role.")
    parser.add_argument("--read-only", action="store_true", help="for a dry run, which resizes nothing")
    parser.add_argument("--no-reservations", action="store_true", help="reservations: false")
    asked = parser.parse_args(arguments)
    wanted = {
        Part.READ_GROUPS: True,
        Part.RESIZE_GROUPS: not asked.read_only,
        Part.RESERVATIONS: not asked.no_reservations,
    }
    json.dump(policy({part for part, is_wanted in wanted.items() if is_wanted}), sys.stdout, indent=2)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
