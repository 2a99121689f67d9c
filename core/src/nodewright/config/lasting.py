"""Lasting settings: those that hold from the start of a process to its end."""

from pydantic.alias_generators import to_camel

from nodewright.config.model import Settings

_LASTING = ("dry_run", "shadow", "cluster", "namespace", "leader_election", "memory", "server", "logging")
#: Those of the section `kube`.
_OF_KUBE = ("kubeconfig", "server", "user_agent")


def keep_lasting(settings: Settings, old: Settings) -> tuple[Settings, tuple[str, ...]]:
    """Return *settings* with those of *old* that last, and the names of those that would have been others."""
    sections = [name for name in _LASTING if getattr(settings, name) != getattr(old, name)]
    of_kube = [name for name in _OF_KUBE if getattr(settings.kube, name) != getattr(old.kube, name)]
    kube = settings.kube.model_copy(update={name: getattr(old.kube, name) for name in of_kube})
    kept = settings.model_copy(update={**{name: getattr(old, name) for name in sections}, "kube": kube})
    return kept, (*map(to_camel, sections), *(f"kube.{to_camel(name)}" for name in of_kube))
