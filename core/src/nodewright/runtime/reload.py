"""Reload: a changed configuration file is taken up, or refused."""

import logging
from collections.abc import Callable
from contextlib import suppress

from nodewright.api.errors import ApiServerError, ConfigurationError
from nodewright.config.document import Loaded
from nodewright.config.model import Settings
from nodewright.config.watch import ConfigFile, keep_lasting
from nodewright.runtime.informer import Informer
from nodewright.runtime.liveness import Liveness
from nodewright.runtime.reporting import Reporter
from nodewright.runtime.session import Session

#: How long a changed configuration waits for objects that the old one did not watch. A loop can do without them.
_FIRST_SIGHT_SECONDS = 5.0

_log = logging.getLogger(__name__)


class Reloader:
    """Owns the session in effect, and replaces it when *file* changes. For the loop's thread."""

    def __init__(
        self,
        session: Session,
        open_session: Callable[[Settings], Session],
        file: ConfigFile | None,
        informer: Informer,
        liveness: Liveness,
        reporter: Reporter,
    ) -> None:
        #: What the configuration in effect brought to life.
        self.session = session
        self._open = open_session
        self._file = file
        self._informer = informer
        self._liveness = liveness
        self._reporter = reporter

    def reload(self) -> None:
        """Take up the file if it has changed. One that can't be used is refused, and the old session goes on."""
        # A call under way has to be known to the session that looks for its order in the cloud.
        if self._file is None or self.session.busy:
            return
        try:
            loaded = self._file.changed()
        except ConfigurationError as error:
            _log.error("the changed configuration is refused, the old one stays in effect:\n%s", error)
            self._reporter.refused_configuration(error)
            self.session.policy.hooks.on_config_refused(error.problems)
            return
        if loaded is not None:
            self._take_up(loaded)

    def _take_up(self, loaded: Loaded) -> None:
        for warning in loaded.warnings:
            _log.warning("%s", warning)
        settings, lasting = keep_lasting(loaded.settings, self.session.settings)
        for name in lasting:
            _log.warning("the change of %s takes effect at the next start of the process", name)
        old, self.session = self.session, self._open(settings)
        old.close()
        self._informer.watch(settings, self.session.config_maps, self.session.pod_annotations)
        with suppress(ApiServerError):
            self._informer.wait(_FIRST_SIGHT_SECONDS)
        self._liveness.loop = settings.loop
        _log.info("the changed configuration is in effect")
        self._reporter.reconfigured(settings)
        self.session.policy.hooks.on_config_changed()
