"""What people call a group: by its id, or by the last part of an id that is a URL."""

from collections import Counter
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase


def name_of_group(group_id: str) -> str:
    """Return the last part of an id that is a URL; any other id is the name."""
    return group_id.rpartition("/")[2] if "://" in group_id else group_id


def names_of_groups(group_ids: Iterable[str]) -> Mapping[str, str]:
    """Return the name of each group by its id: the whole id where several have the same name."""
    ids = tuple(group_ids)
    counts = Counter(map(name_of_group, ids))
    return {each: name_of_group(each) if counts[name_of_group(each)] == 1 else each for each in ids}


def is_called(group_id: str, pattern: str) -> bool:
    """Tell whether the shell *pattern* matches the id of a group, or its name."""
    return fnmatchcase(group_id, pattern) or fnmatchcase(name_of_group(group_id), pattern)
