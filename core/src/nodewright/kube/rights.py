"""Rights at the API server: what a request takes, and which were found to be missing."""

import logging
from collections.abc import Mapping
from threading import Lock
from time import monotonic

from nodewright.api.errors import AccessDeniedError, Right

_VERBS = {"GET": "get", "POST": "create", "PATCH": "patch", "PUT": "update", "DELETE": "delete"}

#: So long, in seconds, an API server may take until it knows all roles.
_WARM_UP_SECONDS = 10.0

_log = logging.getLogger(__name__)


def right_to(method: str, path: str, query: Mapping[str, str] | None = None) -> Right | None:
    """Return the right that a request takes; None if it is about no resource."""
    match path.strip("/").split("/"):
        case ["api", _, *rest]:
            group = ""
        case ["apis", group, _, *rest]:
            pass
        case _:
            return None
    namespace = ""
    if rest[:1] == ["namespaces"] and len(rest) > 2:
        namespace, rest = rest[1], rest[2:]
    if not rest:
        return None
    name, subresource = [*rest[1:], "", ""][:2]
    verb = _VERBS.get(method, method.lower())
    if method == "GET" and not name:
        verb = "watch" if "watch" in (query or {}) else "list"
    resource = f"{rest[0]}/{subresource}" if subresource else rest[0]
    return Right(verb=verb, resource=resource, group=group, namespace=namespace, name=name)


class Rights:
    """Which rights are missing: told once when one is found out, and when it was given. Safe to use from any thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._missing: dict[str, AccessDeniedError] = {}
        self._untold: dict[str, AccessDeniedError] = {}
        #: Since when rights have been refused to us, by those that have just started.
        self._doubted: dict[str, float] = {}

    @property
    def missing(self) -> tuple[str, ...]:
        """Such as ``list poddisruptionbudgets.policy``, in order."""
        with self._lock:
            return tuple(sorted(self._missing))

    def news(self) -> tuple[AccessDeniedError, ...]:
        """Return what was found to be missing since the last time."""
        with self._lock:
            news, self._untold = tuple(self._untold.values()), {}
        return news

    def refused(self, error: AccessDeniedError, *, just_back: bool = False) -> bool:
        """Note that a request was refused; tell whether to believe that.

        An API server that is *just_back* may not know the roles yet.
        """
        right, now = str(error.right), monotonic()
        with self._lock:
            if just_back and now - self._doubted.setdefault(right, now) < _WARM_UP_SECONDS:
                return False
            known = right in self._missing
            self._missing[right] = error
            if not known:
                self._untold[right] = error
        if not known:
            _log.warning("%s", error)
        return True

    def allowed(self, right: Right | None) -> None:
        """Note that a request was let through."""
        # Nearly always nothing is missing.
        if not self._missing and not self._doubted:
            return
        with self._lock:
            self._doubted.pop(str(right), None)
            given = self._missing.pop(str(right), None)
            self._untold.pop(str(right), None)
        if given is not None:
            _log.info("may %s now", right)
