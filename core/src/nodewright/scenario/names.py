"""Names in pictures: the real ones, or pseudonyms that reveal nothing and lead to the same decisions."""

import re
from collections.abc import Collection
from enum import StrEnum

from nodewright.objects.node import HOSTNAME, ZONE

#: Labels in which a volume that is reachable from several domains has the values of all, joined.
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
#: Values that reveal nothing, and that rules may look for.
_PLAIN = frozenset(["", "true", "false", "virtual-kubelet"])
#: Namespaces that every cluster has; some rules are about the first one.
_PUBLIC_NAMESPACES = frozenset(["kube-system", "kube-public", "kube-node-lease", "default"])
_INTEGER = re.compile(r"[+-]?[0-9]+")


class Role(StrEnum):
    """The kind of thing that has a name. Things of several kinds may have the same name."""

    NAMESPACE = "namespace"
    POD = "pod"
    OWNER = "owner"
    CONTAINER = "container"
    #: A volume, by its name in a pod.
    MOUNT = "mount"
    CLAIM = "claim"
    VOLUME = "volume"
    STORAGE_CLASS = "class"
    #: A disk, by its driver's name for it.
    DISK = "disk"
    BUDGET = "budget"
    NODE = "node"
    INSTANCE = "instance"
    GROUP = "group"
    UID = "uid"
    #: The value of a label or a taint.
    VALUE = "value"


#: Labels whose values are names of other things.
_NAMING = {HOSTNAME: Role.NODE, "kubernetes.io/metadata.name": Role.NAMESPACE}


class Names:
    """The real names."""

    #: Whether real names are hidden.
    hides = False

    def of(self, role: Role, text: str) -> str:
        """Return the name that is written for *text*."""
        return text

    def label(self, key: str, value: str) -> str:
        """Return what is written for *value* of the label (or taint) *key*."""
        return value

    def claim(self, namespace: str, name: str) -> str:
        """Return the name that is written for a claim."""
        return name

    def pool(self, text: str) -> str:
        """Return what is written for a capacity pool. Its name is made of zone, machine type and other parts."""
        return _POOL_JOINT.join(self.of(Role.VALUE, part) for part in text.split(_POOL_JOINT))

    def note_made_claim(self, namespace: str, pod: str, mount: str) -> None:
        """Note that *pod* has a claim made for its volume *mount*, named after both."""

    def note_number(self, key: str) -> None:
        """Note that values of the label *key* are compared as numbers."""


class CollectedNames(Names):
    """Real names that are collected while a picture is written, to make `Pseudonyms`."""

    def __init__(self) -> None:
        self.texts: dict[Role, set[str]] = {role: set() for role in Role}
        self.numbers: set[str] = set()
        #: Pod and volume, by the key of the claim that is made for them.
        self.made: dict[str, tuple[str, str]] = {}

    def of(self, role: Role, text: str) -> str:
        """Note *text*."""
        if text:
            self.texts[role].add(text)
        return text

    def label(self, key: str, value: str) -> str:
        """Note *value*, or its parts."""
        for part in _parts(key, value):
            self.of(_role(key), part)
        return value

    def claim(self, namespace: str, name: str) -> str:
        """Note a claim."""
        self.of(Role.CLAIM, f"{namespace}/{name}")
        return name

    def note_made_claim(self, namespace: str, pod: str, mount: str) -> None:
        """Note what the claim is named after."""
        self.made[f"{namespace}/{pod}-{mount}"] = pod, mount

    def note_number(self, key: str) -> None:
        """Note *key*."""
        self.numbers.add(key)


class Pseudonyms(Names):
    """Numbers in place of names. Equal names stay equal, and in the same order, so that decisions are the same.

    *collected* has all names. Values of the labels *public* stay as they are.
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
        """Return the number of *value*; the value itself if it is compared as a number or reveals nothing."""
        if value in _PLAIN or key in self._public or (key in self._numbers and _INTEGER.fullmatch(value)):
            return value
        return _JOINT.join(self.of(_role(key), part) for part in _parts(key, value))

    def claim(self, namespace: str, name: str) -> str:
        """Return the number of a claim, or the numbers of the pod and volume that it is named after."""
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
