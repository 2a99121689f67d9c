"""Rights at the API server: which right a request needs, and which rights are missing."""

import logging
from collections.abc import Mapping
from threading import Lock
from time import monotonic

from nodewright.api.errors import AccessDeniedError, Right

_VERBS = {"GET": "get", "POST": "create", "PATCH": "patch", "PUT": "update", "DELETE": "delete"}

#: Seconds that an API server may need after its start to know all roles.
_WARM_UP_SECONDS = 10.0

_MISSING = "may not "

_log = logging.getLogger(__name__)


def right_to(method: str, path: str, query: Mapping[str, str] | None = None) -> Right | None:
    """Return the right that a request needs; None if its path names no resource."""
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


def missing_right(error: Exception) -> str:
    """Return which right *error* says is missing, in short, as people have been told in full; empty if it says none."""
    right = error.right if isinstance(error, AccessDeniedError) else None
    return "" if right is None else f"{_MISSING}{right}"


class Rights:
    """The missing rights; logs each once when it is found and when it is granted. Safe to use from any thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._missing: dict[str, AccessDeniedError] = {}
        self._unreported: dict[str, AccessDeniedError] = {}
        #: Since when an API server that has just come back has refused a right.
        self._doubted: dict[str, float] = {}

    @property
    def missing(self) -> tuple[str, ...]:
        """The missing rights in order, such as ``list poddisruptionbudgets.policy``."""
        with self._lock:
            return tuple(sorted(self._missing))

    def told(self, error: str) -> bool:
        """Tell whether *error* says no more than that a right is missing, which was logged."""
        with self._lock:
            return error.removeprefix(_MISSING) in self._missing

    def news(self) -> tuple[AccessDeniedError, ...]:
        """Return the rights found missing since the last call."""
        with self._lock:
            news, self._unreported = tuple(self._unreported.values()), {}
        return news

    def refused(self, error: AccessDeniedError, *, just_back: bool = False) -> bool:
        """Note that a request was refused; return whether the refusal is final.

        It is not while an API server that is *just_back* may not know the roles yet.
        """
        right, now = str(error.right), monotonic()
        with self._lock:
            if just_back and now - self._doubted.setdefault(right, now) < _WARM_UP_SECONDS:
                return False
            known = right in self._missing
            self._missing[right] = error
            if not known:
                self._unreported[right] = error
        if not known:
            _log.warning("%s", error)
        return True

    def allowed(self, right: Right | None) -> None:
        """Note that a request was allowed."""
        # The usual case, without the lock.
        if not self._missing and not self._doubted:
            return
        with self._lock:
            self._doubted.pop(str(right), None)
            granted = self._missing.pop(str(right), None)
            self._unreported.pop(str(right), None)
        if granted is not None:
            _log.info("may %s now", right)
