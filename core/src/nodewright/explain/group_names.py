"""Names of groups as people say them: where ids are URLs, their last part will do."""

from collections.abc import Iterable


def group_meant(name: str, ids: Iterable[str]) -> str | None:
    """Return the one of *ids* that is *name*, or else the only one whose last part is; None if there is none."""
    known = set(ids)
    if name in known:
        return name
    ending = [id_ for id_ in known if id_.endswith(f"/{name}")]
    return ending[0] if len(ending) == 1 else None
