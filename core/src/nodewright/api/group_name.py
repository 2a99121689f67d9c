"""What people call a group: by its id, or by the last part of an id that is a URL."""

from fnmatch import fnmatchcase


def name_of_group(group_id: str) -> str:
    """Return the last part of an id that is a URL; any other id is the name."""
    return group_id.rpartition("/")[2] if "://" in group_id else group_id


def is_called(group_id: str, pattern: str) -> bool:
    """Tell whether the shell *pattern* matches the id of a group, or its name."""
    return fnmatchcase(group_id, pattern) or fnmatchcase(name_of_group(group_id), pattern)
