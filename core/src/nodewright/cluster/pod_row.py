"""Pod rows: everything that is stored about a pod besides its class."""

from datetime import datetime

from msgspec import Struct

from nodewright.cluster.pod_class import PodClass
from nodewright.objects import OwnerReference, Pod


class PodRow(Struct, gc=False, kw_only=True, eq=False):
    """One pod. Written by `Cluster` only."""

    #: ``namespace/name``.
    key: str
    uid: str
    pod_class: PodClass
    #: Name of the node that it is bound to, empty while it is pending.
    node: str
    owner: OwnerReference | None
    created: datetime | None
    deleted: datetime | None
    finished: bool
    #: The pod itself, kept while it is pending.
    pending: Pod | None = None
    #: Labels that differ between the pods of its controller. Its class ignores them until a selector looks at them.
    telling: tuple[tuple[str, str], ...] = ()
    #: Where `Cluster` finds it, while it is bound.
    slot: int = -1

    @property
    def namespace(self) -> str:
        """The pod's namespace."""
        return self.key.partition("/")[0]

    @property
    def name(self) -> str:
        """The pod's name."""
        return self.key.partition("/")[2]

    def counts_as(self, other: "PodRow") -> bool:
        """Return whether *other* takes the same from the same node."""
        return (
            self.pod_class is other.pod_class
            and self.node == other.node
            and self.finished == other.finished
            and (self.deleted is None) == (other.deleted is None)
        )
