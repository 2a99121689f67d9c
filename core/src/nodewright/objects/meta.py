"""What all Kubernetes objects share: metadata, and the base of all structs."""

from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct

from nodewright.objects.frozen import EMPTY, freeze

#: A time with its zone. A time without a zone is malformed.
Time = Annotated[datetime, Meta(tz=True)]


class KubeStruct(Struct, frozen=True, kw_only=True, rename="camel", gc=False, omit_defaults=True):
    """A read-only part of a Kubernetes object: unknown fields are ignored, absent ones take their default."""


class OwnerReference(KubeStruct, frozen=True, kw_only=True):
    """The owner of an object."""

    kind: str = ""
    name: str = ""
    uid: str = ""
    api_version: str = ""
    controller: bool = False


class ObjectMeta(KubeStruct, frozen=True, kw_only=True):
    """Name, identity and labels of an object."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    labels: dict[str, str] = EMPTY
    annotations: dict[str, str] = EMPTY
    owner_references: tuple[OwnerReference, ...] = ()
    creation_timestamp: Time | None = None
    deletion_timestamp: Time | None = None
    deletion_grace_period_seconds: int | None = None

    def __post_init__(self) -> None:
        freeze(self, "labels", "annotations")

    @property
    def key(self) -> str:
        """``namespace/name``, or the name alone of what has no namespace."""
        return f"{self.namespace}/{self.name}" if self.namespace else self.name

    @property
    def controller(self) -> OwnerReference | None:
        """The owner that manages the object, if any."""
        return next((owner for owner in self.owner_references if owner.controller), None)


class Condition(KubeStruct, frozen=True, kw_only=True):
    """One entry of a ``status.conditions`` list."""

    type: str
    status: str = "Unknown"
    reason: str = ""
    last_transition_time: Time | None = None
