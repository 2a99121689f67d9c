"""Where news of interruptions comes from."""

from enum import StrEnum
from typing import Self

from nodewright.api import PluginConfig
from pydantic import model_validator


class Rebalance(StrEnum):
    """What to do about a machine that AWS may interrupt soon."""

    IGNORE = "ignore"
    AVOID = "avoid"


class InterruptionSettings(PluginConfig, defer_build=True):
    """Where news of interruptions comes from."""

    #: Name or URL of an SQS queue that gets EC2's events from EventBridge; empty if there is none.
    queue: str = ""
    #: Whether a rebalance recommendation counts as an interruption, in groups where AWS replaces the machine then.
    rebalance: Rebalance = Rebalance.IGNORE
    #: Take messages off the queue once they were read; false where somebody else reads the same queue.
    delete_messages: bool = True

    @model_validator(mode="after")
    def _has_a_queue(self) -> Self:
        if self.rebalance is Rebalance.AVOID and not self.queue:
            raise ValueError("rebalance: avoid needs a queue to hear of it: set queue to the name of an SQS queue")
        return self
