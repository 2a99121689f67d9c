"""ConfigMaps that strategies ask for: watched one by one, and no others."""

from collections.abc import Iterable

from nodewright.kube.feed import Feed
from nodewright.kube.kinds import Kind, one_config_map
from nodewright.kube.reflector import Reflector
from nodewright.kube.transport import Transport


class ConfigMapWatch:
    """Keeps one reflector for each ConfigMap that is asked for. For the loop's thread."""

    def __init__(self, transport: Transport, feed: Feed) -> None:
        self._transport = transport
        self._feed = feed
        self._reflectors: dict[tuple[str, str], tuple[Kind, Reflector]] = {}

    def watch(self, namespace: str, names: Iterable[str]) -> None:
        """Watch the ConfigMaps *names* in *namespace*, from now on, and no others."""
        wanted = {(namespace, name) for name in names}
        for gone in self._reflectors.keys() - wanted:
            kind, reflector = self._reflectors.pop(gone)
            reflector.stop()
            self._feed.leave(kind)
        for new in sorted(wanted - self._reflectors.keys()):
            kind = one_config_map(*new)
            reflector = Reflector(kind, self._transport, self._feed)
            self._reflectors[new] = kind, reflector
            self._feed.follow(kind)
            reflector.start()

    def close(self) -> None:
        """End all watches."""
        self.watch("", ())
