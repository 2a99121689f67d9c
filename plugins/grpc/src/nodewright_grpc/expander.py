"""Expander ``grpc``: your server chooses."""

import os
from collections.abc import Sequence
from time import monotonic
from typing import TYPE_CHECKING

from nodewright.api import Expander, ExpanderContext, Option, PluginConfig, TemporaryError

from nodewright_grpc.config import GrpcConfig
from nodewright_grpc.protocol import make_question, read_answer

if TYPE_CHECKING:
    from nodewright_grpc.connection import Connection

#: At most this many groups that were not offered are named in a notice.
_NAMED = 5


class Grpc(Expander):
    """Asks your server, by Cluster Autoscaler's gRPC protocol.

    Without an answer in time, or if it names none of the offered groups, all options are kept. An answer without any
    group means that none of them may grow.
    """

    api_version = 1
    Config = GrpcConfig
    config: GrpcConfig
    asks_outside = True

    def __init__(self, config: PluginConfig) -> None:
        super().__init__(config)
        self._connection: Connection | None = None

    def best(self, options: Sequence[Option], context: ExpanderContext) -> Sequence[Option]:
        """Return the options that the server names."""
        began = monotonic()
        question = make_question(options, legacy_fields=self.config.legacy_fields)
        answer = self._open().ask(question, max(0.0, self.config.timeout - (monotonic() - began)))
        try:
            groups = read_answer(answer)
        except ValueError as error:
            raise TemporaryError(f"the answer of {self.config.url} can't be read: {error}") from None
        return self._kept(groups, options, context)

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()

    def _open(self) -> "Connection":
        if self._connection is None:
            # gRPC would print each failure to stderr, outside logging; we report failures ourselves.
            os.environ.setdefault("GRPC_VERBOSITY", "NONE")
            # gRPC is large and starts threads, so it is loaded when the first question is asked.
            from nodewright_grpc.connection import Connection

            self._connection = Connection(self.config)
        return self._connection

    def _kept(self, groups: Sequence[str], options: Sequence[Option], context: ExpanderContext) -> Sequence[Option]:
        if not groups:
            message = f"{self.config.url} found none of {len(options)} options acceptable: no group grows"
            context.notice("NoOptionAccepted", message, warning=False)
            return []
        kept = [option for option in options if option.group.id in groups]
        offered = {option.group.id for option in options}
        if unknown := [group for group in dict.fromkeys(groups) if group not in offered]:
            named = ", ".join(map(repr, unknown[:_NAMED])) + (", ..." if len(unknown) > _NAMED else "")
            instead = "" if kept else "; all options are kept"
            context.notice("UnknownGroup", f"{self.config.url} named groups that were not offered: {named}{instead}")
        return kept or options
