"""The annotations of pods that plugins declare."""

import re

#: The key of an annotation, or what several begin with up to a slash.
_KEY = re.compile(r"([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-\w.]*[A-Za-z0-9])?|[a-z0-9]([-a-z0-9.]*[a-z0-9])?/")


def declared_annotations(plugin: object) -> frozenset[str]:
    """Return the `pod_annotations` of a plugin, or of its class; raises `ValueError` that says what is wrong with them.

    A class that works them out for each instance has a property, and none are known of it.
    """
    found = getattr(plugin, "pod_annotations", None)
    if isinstance(found, property):
        return frozenset()
    if not isinstance(found, frozenset | set):
        raise ValueError(f"its pod_annotations are {found!r} instead of a frozenset of keys of annotations")
    for key in found:
        if not isinstance(key, str) or not _KEY.fullmatch(key):
            raise ValueError(
                f"{key!r} in its pod_annotations is neither the key of an annotation, such as example.com/team, "
                "nor what several begin with, such as example.com/"
            )
    return frozenset(found)
