"""Names in pictures: as they are, or others in their place that tell nothing and mean the same to every decision."""

import re
from collections.abc import Collection
from enum import StrEnum

from nodewright.objects.node import HOSTNAME, ZONE

#: Where a volume that can be reached from several domains has the values of all, joined.
_JOINED = frozenset(
    [
        ZONE,
        "topology.kubernetes.io/region",
        "failure-domain.beta.kubernetes.io/zone",
        "failure-domain.beta.kubernetes.io/region",
    ]
)
_JOINT = "__"
_POOL_JOINT = "/"
#: Values that say nothing about whose cluster it is, and that rules may look for.
_PLAIN = frozenset(["", "true", "false", "virtual-kubelet"])
#: Namespaces that every cluster has; there are rules about the first of them.
_PUBLIC_NAMESPACES = frozenset(["kube-system", "kube-public", "kube-node-lease", "default"])
_INTEGER = re.compile(r"[+-]?[0-9]+")


class Role(StrEnum):
    """What a name is a name of. One text may be the name of things of several kinds."""

    NAMESPACE = "namespace"
    POD = "pod"
    OWNER = "owner"
    CONTAINER = "container"
    #: A volume, as a pod calls it.
    MOUNT = "mount"
    CLAIM = "claim"
    VOLUME = "volume"
    STORAGE_CLASS = "class"
    #: A disk, as its driver calls it.
    DISK = "disk"
    BUDGET = "budget"
    NODE = "node"
    INSTANCE = "instance"
    GROUP = "group"
    UID = "uid"
    #: What a label or a taint says.
    VALUE = "value"


#: Labels whose values are names of something else.
_NAMING = {HOSTNAME: Role.NODE, "kubernetes.io/metadata.name": Role.NAMESPACE}


class Names:
    """Everything is called what it is called."""

    #: Whether names are others than the real ones.
    hides = False

    def of(self, role: Role, text: str) -> str:
        """Return what the thing that is called *text* is to be called."""
        return text

    def label(self, key: str, value: str) -> str:
        """Return what is to stand for *value* of the label (or taint) called *key*."""
        return value

    def claim(self, namespace: str, name: str) -> str:
        """Return the name of a claim."""
        return name

    def pool(self, text: str) -> str:
        """Return the name of a capacity pool: zone, machine type and whatever else it is made of."""
        return _POOL_JOINT.join(self.of(Role.VALUE, part) for part in text.split(_POOL_JOINT))

    def note_made_claim(self, namespace: str, pod: str, mount: str) -> None:
        """Note that *pod* has a claim made for its volume *mount*, named after both."""

    def note_number(self, key: str) -> None:
        """Note that values of the label *key* are compared as numbers."""


class CollectedNames(Names):
    """Gathers all names, so that `Pseudonyms` can be made of them."""

    def __init__(self) -> None:
        self.texts: dict[Role, set[str]] = {role: set() for role in Role}
        self.numbers: set[str] = set()
        #: Pod and volume, by the key of the claim that was made for them.
        self.made: dict[str, tuple[str, str]] = {}

    def of(self, role: Role, text: str) -> str:
        """Note *text*."""
        if text:
            self.texts[role].add(text)
        return text

    def label(self, key: str, value: str) -> str:
        """Note *value*, or what it is made of."""
        for part in _parts(key, value):
            self.of(_role(key), part)
        return value

    def claim(self, namespace: str, name: str) -> str:
        """Note a claim."""
        self.of(Role.CLAIM, f"{namespace}/{name}")
        return name

    def note_made_claim(self, namespace: str, pod: str, mount: str) -> None:
        """Remember what the claim is named after."""
        self.made[f"{namespace}/{pod}-{mount}"] = pod, mount

    def note_number(self, key: str) -> None:
        """Remember *key*."""
        self.numbers.add(key)


class Pseudonyms(Names):
    """Numbers in place of names: equal for equal ones, and in the same order, so that every decision is the same.

    *collected* has seen all names. Values of the labels *public* stay as they are.
    """

    hides = True

    def __init__(self, collected: CollectedNames, *, public: Collection[str] = ()) -> None:
        self._names = {role: _numbered(role, texts) for role, texts in collected.texts.items()}
        self._names[Role.NAMESPACE] |= {name: name for name in _PUBLIC_NAMESPACES}
        self._numbers = collected.numbers
        self._made = collected.made
        self._public = public

    def of(self, role: Role, text: str) -> str:
        """Return the number of *text*."""
        return self._names[role][text] if text else text

    def label(self, key: str, value: str) -> str:
        """Return the number of *value*; of what is compared as a number, and what says nothing, the value itself."""
        if value in _PLAIN or key in self._public or (key in self._numbers and _INTEGER.fullmatch(value)):
            return value
        return _JOINT.join(self.of(_role(key), part) for part in _parts(key, value))

    def claim(self, namespace: str, name: str) -> str:
        """Return the number of a claim, or the numbers of those that it is named after."""
        made = self._made.get(f"{namespace}/{name}")
        if made is None:
            return self.of(Role.CLAIM, f"{namespace}/{name}") if name else name
        pod, mount = made
        return f"{self.of(Role.POD, pod)}-{self.of(Role.MOUNT, mount)}"


def _numbered(role: Role, texts: Collection[str]) -> dict[str, str]:
    digits = len(str(len(texts)))
    return {text: f"{role}-{number:0{digits}d}" for number, text in enumerate(sorted(texts), 1)}


def _role(key: str) -> Role:
    return _NAMING.get(key, Role.VALUE)


def _parts(key: str, value: str) -> list[str]:
    return [part.strip() for part in value.split(_JOINT)] if key in _JOINED else [value]
