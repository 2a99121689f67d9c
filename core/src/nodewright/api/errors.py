"""All errors that pass between Nodewright and its plugins, in one tree.

::

    NodewrightError
    ├── TemporaryError              trying again later may help; does not make the loop unhealthy
    │   ├── ThrottledError          the cloud asked for fewer calls
    │   ├── CloudUnavailableError   the cloud or its network did not answer
    │   └── ApiServerError          the API server did not answer as it should
    │       └── ConflictError       someone else changed the object first
    ├── PermanentError              the same call will fail again until someone changes something
    │   ├── ConfigurationError      configuration that can't be used; carries every `Problem` found
    │   ├── PluginError             a plugin that can't be found, loaded or used
    │   ├── AccessDeniedError       credentials missing, expired or without the right
    │   ├── GroupNotFoundError      a node group that the provider does not know, or knows no more
    │   ├── ForeignNodeError        a node that does not belong to the group it was to be deleted from
    │   ├── SizeLimitError          a size outside a group's minimum and maximum
    │   ├── UnsupportedError        an optional action that this group can't do
    │   └── WithheldError           a change that was not made because this is a dry run
    ├── CapacityError               the cloud can't deliver; carries an `InstanceError`: the group is backed off
    ├── PartialIncreaseError        a part of an increase was taken, and can't be taken back; carries how much
    └── NotLeaderError              this replica must not act: another one may hold the lease

Messages are for the person who runs the cluster: what happened, to what, and what to do next.
"""

from dataclasses import dataclass

from nodewright.api.instance import InstanceError


class NodewrightError(Exception):
    """Base of all errors of Nodewright and its plugins."""


class TemporaryError(NodewrightError):
    """Trying again later may help."""


class ThrottledError(TemporaryError):
    """The cloud asked for fewer calls. It asked to wait for `retry_after` seconds, if that is set.

    The core keeps to that, for at least a second and at most a quarter of an hour. If `Provider.refresh` raises this,
    the provider is not asked for anything before that time, and its groups are left as they are. If an action of a
    group does, the group is not asked for that action before; whatever else is due, the cloud is left alone for a
    second. Without `retry_after`, only that second counts. A value that is no number of seconds, negative, infinite or
    not a number, counts as none and is a fault of the plugin.
    """

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class CloudUnavailableError(TemporaryError):
    """The cloud, or the network to it, did not answer."""


class ApiServerError(TemporaryError):
    """The Kubernetes API server did not answer as it should; `status` is the HTTP status, 0 if there was none.

    It asked to wait for `retry_after` seconds before the next try, if that is set.
    """

    def __init__(self, message: str, *, status: int = 0, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after = retry_after


class ConflictError(ApiServerError):
    """Someone else changed the object first."""


class PermanentError(NodewrightError):
    """The same call will fail again until someone changes something."""


@dataclass(frozen=True, kw_only=True)
class Problem:
    """One mistake in a configuration."""

    #: What is wrong, and what is allowed instead.
    message: str
    #: The name of a file, ``flags``, or empty.
    source: str = ""
    #: The line in that file, counted from 1; 0 if there is none.
    line: int = 0
    #: The dotted path of the setting, such as ``scaleDown.unneededTime``.
    path: str = ""

    def __str__(self) -> str:
        place = f"{self.source}:{self.line}" if self.line else self.source
        return ": ".join(part for part in (place, self.path, self.message) if part)


class ConfigurationError(PermanentError):
    """Configuration that can't be used, with every problem that was found in it; a text is one without a place."""

    def __init__(self, *problems: Problem | str) -> None:
        self.problems = tuple(Problem(message=each) if isinstance(each, str) else each for each in problems)
        super().__init__("\n".join(map(str, self.problems)))


class PluginError(PermanentError):
    """A plugin that can't be found, loaded or used; `plugin` is its name."""

    def __init__(self, plugin: str, message: str) -> None:
        super().__init__(message)
        self.plugin = plugin


@dataclass(frozen=True, kw_only=True)
class Right:
    """A right at the Kubernetes API server, as a role grants it."""

    verb: str
    #: With the subresource, such as ``pods/eviction``.
    resource: str
    group: str = ""
    namespace: str = ""
    #: The object that it was missing for, if it was about one.
    name: str = ""

    def __str__(self) -> str:
        return f"{self.verb} {self.resource}" + (f".{self.group}" if self.group else "")

    @property
    def request(self) -> str:
        """The right, with the object that it was needed for."""
        name = "/".join(filter(None, (self.namespace, self.name))) if self.name else ""
        return f"{self} {name}".strip()


class AccessDeniedError(PermanentError):
    """Credentials are missing, expired or lack a right. The message names the right.

    `status` is the HTTP status, 0 if there was none. `right` is set if the right is one at the Kubernetes API server.
    """

    def __init__(self, message: str, *, status: int = 0, right: Right | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.right = right


class GroupNotFoundError(PermanentError):
    """The provider does not know the node group, or knows it no more."""


class ForeignNodeError(PermanentError):
    """A node does not belong to the group it was to be deleted from."""


class SizeLimitError(PermanentError):
    """A size outside the group's minimum and maximum."""


class UnsupportedError(PermanentError):
    """An optional action that this group can't do, though its provider declares the capability for other groups."""


class WithheldError(PermanentError):
    """A change that was not made because this is a dry run."""


class CapacityError(NodewrightError):
    """The cloud can't deliver what was asked for. The group is backed off, and `cause` says why."""

    def __init__(self, cause: InstanceError) -> None:
        super().__init__(f"{cause.code}: {cause.message}")
        self.cause = cause


class PartialIncreaseError(NodewrightError):
    """The cloud took *increased* of the machines that were asked for, for good, and refused the rest with *cause*.

    The core waits for those that were taken, and treats the group as after *cause*.
    """

    def __init__(self, increased: int, cause: NodewrightError) -> None:
        super().__init__(f"only {increased} more machines were ordered: {cause}")
        self.increased = increased
        self.cause = cause


class NotLeaderError(NodewrightError):
    """This replica does not hold the lease, or holds it no more, so it did not do what it was about to do."""
