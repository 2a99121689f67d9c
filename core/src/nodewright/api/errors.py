"""Every error that crosses a border in Nodewright, in one tree.

::

    NodewrightError
    ├── TemporaryError              trying again later may help; does not make the loop unhealthy
    │   ├── ThrottledError          the cloud asked for fewer calls
    │   ├── CloudUnavailableError   the cloud or its network did not answer
    │   └── ApiServerError          the API server did not answer as it should
    │       └── ConflictError       somebody else changed the object first
    ├── PermanentError              the same call will fail again until somebody changes something
    │   ├── ConfigurationError      configuration that can't be used; carries every `Problem` found
    │   ├── PluginError             a plugin that can't be found, loaded or used
    │   ├── AccessDeniedError       credentials missing, expired or without the right
    │   ├── GroupNotFoundError      a node group that the provider does not know (any more)
    │   ├── ForeignNodeError        a node that does not belong to the group it was to be deleted from
    │   ├── SizeLimitError          a size outside a group's minimum and maximum
    │   ├── UnsupportedError        an optional ability that the provider does not declare
    │   └── WithheldError           a change that was not made, as this is a dry run
    ├── CapacityError               the cloud can't deliver; carries an `InstanceError`: the group is backed off
    └── NotLeaderError              another replica may act by now, so that this one must not

Messages are for the person who runs the cluster: what happened, to what, and what to do next.
"""

from dataclasses import dataclass

from nodewright.api.instance import InstanceError


class NodewrightError(Exception):
    """Base of all errors of Nodewright and its plugins."""


class TemporaryError(NodewrightError):
    """Trying again later may help."""


class ThrottledError(TemporaryError):
    """The cloud asked for fewer calls; `retry_after` seconds from now is soon enough, if it said so."""

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class CloudUnavailableError(TemporaryError):
    """The cloud, or the network to it, did not answer."""


class ApiServerError(TemporaryError):
    """The Kubernetes API server did not answer as it should; `status` is the HTTP status, 0 if there was none.

    `retry_after` seconds from now is soon enough to ask again, if it said so.
    """

    def __init__(self, message: str, *, status: int = 0, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after = retry_after


class ConflictError(ApiServerError):
    """Somebody else changed the object first."""


class PermanentError(NodewrightError):
    """The same call will fail again until somebody changes something."""


@dataclass(frozen=True, kw_only=True)
class Problem:
    """One mistake in a configuration."""

    #: What is wrong and what is allowed instead.
    message: str
    #: Where: a file's name, ``flags``, or empty.
    source: str = ""
    #: Line in that file, counted from 1; 0 if it has no line.
    line: int = 0
    #: The dotted path of the setting, such as ``scaleDown.unneededTime``.
    path: str = ""

    def __str__(self) -> str:
        place = f"{self.source}:{self.line}" if self.line else self.source
        return ": ".join(part for part in (place, self.path, self.message) if part)


class ConfigurationError(PermanentError):
    """Configuration that can't be used, with all problems that were found in it."""

    def __init__(self, *problems: Problem) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = problems


class PluginError(PermanentError):
    """A plugin that can't be found, loaded or used; `plugin` is its name."""

    def __init__(self, plugin: str, message: str) -> None:
        super().__init__(message)
        self.plugin = plugin


@dataclass(frozen=True, kw_only=True)
class Right:
    """What somebody may do at the Kubernetes API server, in the words of its roles."""

    verb: str
    #: With the subresource, such as ``pods/eviction``.
    resource: str
    group: str = ""
    namespace: str = ""
    #: Of the object that it was missing for, if it was about one.
    name: str = ""

    def __str__(self) -> str:
        return f"{self.verb} {self.resource}" + (f".{self.group}" if self.group else "")

    @property
    def request(self) -> str:
        """What was asked for when it was needed."""
        name = "/".join(filter(None, (self.namespace, self.name))) if self.name else ""
        return f"{self} {name}".strip()


class AccessDeniedError(PermanentError):
    """Credentials are missing, expired or lack a right; the message names the right.

    `status` is the HTTP status, 0 if there was none. `right` is the one that is missing at the Kubernetes API server.
    """

    def __init__(self, message: str, *, status: int = 0, right: Right | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.right = right


class GroupNotFoundError(PermanentError):
    """The provider does not know the node group (any more)."""


class ForeignNodeError(PermanentError):
    """A node does not belong to the group it was to be deleted from."""


class SizeLimitError(PermanentError):
    """A size outside the group's minimum and maximum."""


class UnsupportedError(PermanentError):
    """An optional ability that the provider does not declare in its capabilities."""


class WithheldError(PermanentError):
    """A change that was not made, as this is a dry run."""


class CapacityError(NodewrightError):
    """The cloud can't deliver what was asked; the group is backed off by the class of `cause`."""

    def __init__(self, cause: InstanceError) -> None:
        super().__init__(f"{cause.code}: {cause.message}")
        self.cause = cause


class NotLeaderError(NodewrightError):
    """This replica does not hold the lease (any more): whatever it was about to do, it does not do."""
