"""The page about flags in the documentation, made from the table: ``python -m nodewright.config.flags_page``."""

import sys

from nodewright.config.flag import Flag
from nodewright.config.flag_table import GROUPS, REMOVED
from nodewright.config.paths import all_settings, planned

_HEAD = """\
# Flags

Nodewright takes every flag of Cluster Autoscaler 1.37, with its name, type and default. The page is made from the
table that the program uses (`nodewright config flags` prints it); `nodewright config from-flags …` turns a command
line into YAML.

- Flags are read as Go reads them: `-flag` or `--flag`, `--flag=value` or `--flag value`; a `bool` without a value is
  true and does not take the next word. `_` in a name is read as `-`.
- A `list` takes one item each time it is given; a `slice` also takes several with commas between. Otherwise the last
  one counts.
- A flag wins over the file that `--config` names. Two flags are not Cluster Autoscaler's: `--config`, and
  `--dry-run`, which sets `dryRun`: act on nothing, and tell where who acts does otherwise ([shadow.md](shadow.md)).
- Two defaults are ours: growth is parallel unless `--parallel-scale-up=false` is given, and without `--kube-client-qps`
  and `--kube-client-burst` there may be 50 requests per second, and 100 at once.
- There is no default provider: where Cluster Autoscaler would take `gce`, Nodewright asks for `--cloud-provider` or
  `providers` in the file.
- *Planned* means: read, checked and kept, but not in effect in this version. Giving another value than the default
  is a warning then, and so it is for a flag with *no effect*.
- A flag that nobody knows is a mistake, and the nearest right name is offered.
"""


def flags_page() -> str:
    """Return the page in Markdown."""
    parts = [_HEAD]
    for title, flags in GROUPS.items():
        rows = "\n".join(_row(flag) for flag in flags)
        parts.append(f"\n## {title}\n\n| Flag | Type | Default | In Nodewright |\n|---|---|---|---|\n{rows}\n")
    removed = "\n".join(f"- `--{name}`: {what}." for name, what in REMOVED.items())
    parts.append(f"\n## No longer flags\n\nThese are mistakes, in Cluster Autoscaler too:\n\n{removed}\n")
    return "".join(parts)


def _row(flag: Flag) -> str:
    default = f"`{flag.default}`" if flag.default else ""
    return f"| `--{flag.name}` | {flag.type} | {default} | {meaning(flag)} |"


def meaning(flag: Flag) -> str:
    """Return what becomes of a flag here, in Markdown."""
    if flag.plugin is not None:
        where, plugin, key = flag.plugin
        whose = f"the plugin `{plugin}`" if plugin else "each plugin"
        return f"`{key}`, a setting of {whose} in `{where}`"
    if flag.sets:
        coming = planned(tuple(flag.sets.split(".")))
        state = f"*planned* ({coming}): " if coming else ""
        return f"{state}`{flag.sets}`. {_DESCRIPTIONS.get(flag.sets, '')}".rstrip()
    also = ", in Cluster Autoscaler neither" if flag.dead else ""
    return f"*no effect*{also}: {flag.instead}"


_DESCRIPTIONS = {setting.name: setting.description for setting in all_settings()}

if __name__ == "__main__":
    sys.stdout.write(flags_page())
