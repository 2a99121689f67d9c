"""The informer: keeps the columns of the cluster up to date with the API server."""

import logging
from collections.abc import Callable, Iterable
from contextlib import suppress

from nodewright.api.clock import Clock
from nodewright.api.errors import ApiServerError
from nodewright.cluster import Cluster
from nodewright.cluster.annotations import PodAnnotations
from nodewright.config.model import Settings
from nodewright.kube.feed import Feed
from nodewright.kube.kinds import KINDS, PODS, WatchedKind, pods_with, wanted_kinds
from nodewright.kube.nodes import TaintLatency
from nodewright.kube.reflector import ConfigMapWatch, Reflector
from nodewright.kube.transport import Transport

#: Nothing is decided on an older state of pods or nodes: a node that seems empty may be full by now, and a machine that
#: seems never to have become a node may be one.
_LONGEST_SILENCE_SECONDS = 180.0

#: How long is waited at first for pods that are read again.
_FIRST_SIGHT_SECONDS = 5.0

_log = logging.getLogger(__name__)


class Informer:
    """Watches everything that decisions look at. For the loop's thread, the only one that may read `cluster`.

    *on_news* is called on another thread as soon as a pod is seen that has become unschedulable, or a node that has
    changed while nodes are awaited.
    """

    def __init__(self, transport: Transport, clock: Clock, on_news: Callable[[], None]) -> None:
        self.cluster = Cluster()
        self.taint_latency = TaintLatency(clock)
        #: What was seen and is not in the cluster yet.
        self.feed = Feed(on_news=on_news, on_nodes=self.taint_latency.saw)
        self._transport = transport
        self._reflectors: dict[str, Reflector] = {}
        self._config_maps = ConfigMapWatch(transport, self.feed)

    def watch(self, settings: Settings, config_maps: Iterable[str], pod_annotations: frozenset[str]) -> None:
        """Begin to watch what decisions by *settings* look at, unless it is watched already.

        The ConfigMaps watched from now on are *config_maps* and no others. Pods are read as `read_pods_with` says. Call
        `wait` to have all of it seen.
        """
        self.read_pods_with(pod_annotations)
        for kind in (*KINDS, *wanted_kinds(settings)):
            if kind.name not in self._reflectors:
                self._follow(kind)
        self._config_maps.watch(settings.namespace, config_maps)

    def read_pods_with(self, annotations: frozenset[str]) -> None:
        """Read pods with the *annotations* that plugins declare.

        If they were read with others before, all are read again. `look` raises until that is done.
        """
        wanted = PodAnnotations(annotations)
        if wanted == self.cluster.pod_classes.annotations:
            return
        self.cluster.pod_classes.tell_by(wanted)
        before = self._reflectors.pop(PODS, None)
        if before is not None:
            before.stop()
            self.feed.remove_kind(PODS)
        self._follow(pods_with(wanted))
        if before is not None:
            with suppress(ApiServerError):
                self.wait(_FIRST_SIGHT_SECONDS)

    def wait(self, timeout: float, *, patient: bool = False) -> None:
        """Wait until everything that is watched was seen once.

        Raises `ApiServerError` after *timeout* seconds; if *patient*, logs why it takes so long and goes on waiting.
        """
        while True:
            try:
                self.feed.wait_until_synced(timeout)
            except ApiServerError as error:
                if not patient:
                    raise
                _log.warning("still waiting: %s", error)
            else:
                return

    def look(self) -> Cluster:
        """Return the cluster as it is now.

        Raises `ApiServerError` if there was no news of nodes or pods for long, or if they are being read again.
        """
        self.feed.check_silence(_LONGEST_SILENCE_SECONDS)
        self.feed.check_listed()
        self.catch_up()
        return self.cluster

    def await_nodes(self, awaited: bool) -> None:
        """Say whether pods count on nodes as `look` has shown them: then changes of nodes are news."""
        self.feed.await_nodes(awaited)

    def catch_up(self) -> None:
        """Take up what was seen. A standby does that too, or the changes of months would pile up."""
        self.feed.apply_to(self.cluster)
        self.cluster.tidy()

    def _follow(self, kind: WatchedKind) -> None:
        self.feed.add_kind(kind)
        self._reflectors[kind.name] = Reflector(kind, self._transport, self.feed)
        self._reflectors[kind.name].start()

    def close(self) -> None:
        """End all watches."""
        for reflector in self._reflectors.values():
            reflector.halt()
        for reflector in self._reflectors.values():
            reflector.stop()
        self._config_maps.close()
