"""The annotations that pods of a suite have: as in a cluster, those that Nodewright or the plugin under test reads."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from msgspec.structs import force_setattr
from msgspec.structs import replace as changed

from nodewright.api import Pod, PodSet
from nodewright.cluster.annotations import BUILT_IN, PodAnnotations
from nodewright.objects.frozen import FrozenDict
from nodewright.objects.pod import MIRROR
from nodewright.plugins.annotations import declared_annotations

#: What is written in a declared annotation: users may write anything.
_ANYTHING = "anything"


def annotations_of(plugin: object) -> frozenset[str]:
    """The annotations that *plugin* declares; fails the test if they can't be used."""
    if not hasattr(plugin, "pod_annotations"):
        return frozenset()
    try:
        return declared_annotations(plugin)
    except ValueError as error:
        pytest.fail(str(error))


class AsRead:
    """Pods as *plugin* is given them in a cluster: without annotations that nobody declares.

    If none of *pods* has a declared one, every other pod gets them all.
    """

    def __init__(self, plugin: object, pods: Iterable[Pod]) -> None:
        given, declared = list(pods), annotations_of(plugin)
        self._known = PodAnnotations(declared)
        keys = {key for pod in given for key in pod.metadata.annotations}
        bare = not any(self._known.tells(key) and not BUILT_IN.tells(key) for key in keys)
        added = sorted(f"{key}example" if key.endswith("/") else key for key in declared)
        self._added = dict.fromkeys(added, _ANYTHING) if bare else {}
        self._lucky = {pod.key for pod in given[1::2]}
        self._looked_up: set[str] = set()

    @property
    def undeclared(self) -> list[str]:
        """The annotations of `watched` pods that were looked up without being declared."""
        return sorted(key for key in self._looked_up if not self._is_there(key))

    def pod(self, pod: Pod) -> Pod:
        """*pod* with the annotations that it has in a cluster."""
        annotations = {key: value for key, value in pod.metadata.annotations.items() if self._is_there(key)}
        if pod.key in self._lucky:
            annotations |= self._added
        if annotations == pod.metadata.annotations:
            return pod
        return changed(pod, metadata=changed(pod.metadata, annotations=annotations))

    def sets(self, sets: Iterable[PodSet]) -> list[PodSet]:
        """*sets* of such pods."""
        return [replace(pods, pod=self.pod(pods.pod)) for pods in sets]

    def watched(self, pod: Pod) -> Pod:
        """Such a pod that notes which of its annotations are looked up. A copy of it notes nothing."""
        read = self.pod(pod)
        metadata = changed(read.metadata)
        force_setattr(metadata, "annotations", _Watched(read.metadata.annotations, self._looked_up))
        return changed(read, metadata=metadata)

    def watched_sets(self, sets: Iterable[PodSet]) -> list[PodSet]:
        """*sets* of such pods."""
        return [replace(pods, pod=self.watched(pods.pod)) for pods in sets]

    def _is_there(self, key: str) -> bool:
        return self._known.tells(key) or key == MIRROR


def as_read(plugin: object, sets: Sequence[PodSet]) -> AsRead:
    """Pods of *sets* as *plugin* is given them in a cluster."""
    return AsRead(plugin, [pods.pod for pods in sets])


def advice(undeclared: Sequence[str]) -> str:
    """What to do about annotations that are read but not declared."""
    return (
        f"it reads the annotation {' and '.join(undeclared)} of pods, which it does not declare in pod_annotations: "
        "in a cluster, that may be missing, or be another pod's"
    )


class _Watched(FrozenDict[str, str]):
    """Annotations that note which keys are looked up."""

    __slots__ = ("_looked_up",)

    def __init__(self, annotations: dict[str, str], looked_up: set[str]) -> None:
        super().__init__(annotations)
        self._looked_up = looked_up

    def __getitem__(self, key: str) -> str:
        self._looked_up.add(key)
        return super().__getitem__(key)

    def __contains__(self, key: object) -> bool:
        self._looked_up.add(str(key))
        return super().__contains__(key)

    def get(self, key: str, default: Any = None) -> Any:
        """As that of a dict."""
        self._looked_up.add(key)
        return super().get(key, default)
