"""Reloading: the configuration file can change at any time, by an editor or through a ConfigMap."""

from pathlib import Path as FilePath

from pydantic.alias_generators import to_camel

from nodewright.api.errors import ConfigurationError
from nodewright.config.document import Loaded, load, read_file
from nodewright.config.flags import NO_FLAGS, Flags
from nodewright.config.model import Settings
from nodewright.config.plugins import PluginClasses

#: Settings that apply from the start of a process to its end. A reload does not change them.
_LASTING = ("dry_run", "shadow", "cluster", "namespace", "leader_election", "memory", "server", "logging")
#: The same in the section `kube`.
_OF_KUBE = ("kubeconfig", "server", "user_agent")


class ConfigFile:
    """A file that is checked before every loop.

    It is read in full each time, which takes a fraction of a millisecond. A check of its time would miss a kubelet's
    swap of symlinks, and two writes within one tick of the file system's clock. Not safe to use from several threads.
    """

    def __init__(self, path: FilePath, *, flags: Flags = NO_FLAGS, classes: PluginClasses | None = None) -> None:
        self.path = path
        self._flags = flags
        self._classes = classes
        self._accepted: str | None = None
        #: What was refused last: a text, or the reason why the file could not be read.
        self._refused: str | None = None

    def load(self, *, tolerant: bool = False) -> Loaded:
        """Load the file as it is now. Raises `ConfigurationError` with every problem, as `document.load` does."""
        self._refused = None
        return self._load(read_file(self.path), tolerant=tolerant)

    def changed(self) -> Loaded | None:
        """Return the new configuration if the file has changed, or None.

        Raises `ConfigurationError`, once for each content, if it can't be used. The old configuration stays in use.
        """
        try:
            text = read_file(self.path)
        except ConfigurationError as error:
            if str(error) == self._refused:
                return None
            self._refused = str(error)
            raise
        if text == self._accepted:
            self._refused = None
            return None
        return None if text == self._refused else self._load(text)

    def _load(self, text: str, *, tolerant: bool = False) -> Loaded:
        self._refused = text
        loaded = load(text, flags=self._flags, classes=self._classes, name=str(self.path), tolerant=tolerant)
        self._accepted, self._refused = text, None
        return loaded


def keep_lasting(settings: Settings, old: Settings) -> tuple[Settings, tuple[str, ...]]:
    """Return *settings* with the lasting ones of *old*, and the names of those that would have changed."""
    sections = [name for name in _LASTING if getattr(settings, name) != getattr(old, name)]
    of_kube = [name for name in _OF_KUBE if getattr(settings.kube, name) != getattr(old.kube, name)]
    kube = settings.kube.model_copy(update={name: getattr(old.kube, name) for name in of_kube})
    kept = settings.model_copy(update={**{name: getattr(old, name) for name in sections}, "kube": kube})
    return kept, (*map(to_camel, sections), *(f"kube.{to_camel(name)}" for name in of_kube))
