"""The documentation page about flags, made from the flag table: ``python -m nodewright.config.flags_page``."""

import sys

from nodewright.config.flag import Flag
from nodewright.config.flag_table import GROUPS, REMOVED
from nodewright.config.paths import all_settings, planned

_HEAD = """\
# Flags

Nodewright accepts every flag of Cluster Autoscaler 1.37, with its name, type and default. This page is generated from
the table that the program uses. `nodewright config flags` prints the page. `nodewright config from-flags …` converts a
command line to YAML.

- Flags are parsed as in Go: `-flag` or `--flag`, `--flag=value` or `--flag value`. A `bool` without a value is true and
  does not take the next word. `_` in a name is read as `-`.
- A `list` takes one item each time it is given. A `slice` also takes several, separated by commas. For all other types,
  the last value counts.
- A flag overrides the file that `--config` names. Two flags are Nodewright's own: `--config`, and `--dry-run`, which
  sets `dryRun`: Nodewright changes nothing and reports where the autoscaler that acts decides differently
  ([shadow.md](shadow.md)).
- Two defaults differ. Groups grow in parallel unless `--parallel-scale-up=false` is given. Without `--kube-client-qps`
  and `--kube-client-burst`, Nodewright may send 50 requests per second, and 100 at once.
- There is no default provider. Where Cluster Autoscaler would take `gce`, Nodewright requires `--cloud-provider`, or
  `providers` in the file.
- *Planned* means that the value is parsed, checked and kept, but has no effect in this version. Any value other than
  the default gives a warning. The same is true for a flag with *no effect*.
- An unknown flag is an error. The message suggests the nearest known name.
"""


def flags_page() -> str:
    """Return the page in Markdown."""
    parts = [_HEAD]
    for title, flags in GROUPS.items():
        rows = "\n".join(_row(flag) for flag in flags)
        parts.append(f"\n## {title}\n\n| Flag | Type | Default | In Nodewright |\n|---|---|---|---|\n{rows}\n")
    removed = "\n".join(f"- `--{name}`: {what}." for name, what in REMOVED.items())
    parts.append(f"\n## Removed flags\n\nThese flags are errors, as they are in Cluster Autoscaler:\n\n{removed}\n")
    return "".join(parts)


def _row(flag: Flag) -> str:
    default = f"`{flag.default}`" if flag.default else ""
    return f"| `--{flag.name}` | {flag.type} | {default} | {meaning(flag)} |"


def meaning(flag: Flag) -> str:
    """Return what a flag does in Nodewright, in Markdown."""
    if flag.plugin is not None:
        where, plugin, key = flag.plugin
        whose = f"the plugin `{plugin}`" if plugin else "each plugin"
        return f"`{key}`, a setting of {whose} in `{where}`"
    if flag.sets:
        coming = planned(tuple(flag.sets.split(".")))
        state = f"*planned* ({coming}): " if coming else ""
        return f"{state}`{flag.sets}`. {_DESCRIPTIONS.get(flag.sets, '')}".rstrip()
    also = ", here or in Cluster Autoscaler" if flag.dead else ""
    return f"*no effect*{also}: {flag.instead}"


_DESCRIPTIONS = {setting.name: setting.description for setting in all_settings()}

if __name__ == "__main__":
    sys.stdout.write(flags_page())
