"""Settings that hold from the start of a process to its end, whatever a changed file says."""

from nodewright.config.model import Settings

_LASTING = ("namespace", "dry_run", "shadow", "memory", "server", "kube", "leader_election", "logging")


def keep_lasting(old: Settings, new: Settings) -> tuple[Settings, tuple[str, ...]]:
    """Return *new* with what holds to the end as *old* has it, and the names of the settings that differ in that."""
    held = {name: getattr(old, name) for name in _LASTING if getattr(old, name) != getattr(new, name)}
    names = tuple(Settings.model_fields[name].alias or name for name in held)
    return new.model_copy(update=held), names
