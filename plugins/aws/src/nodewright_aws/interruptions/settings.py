"""Where news of interruptions comes from."""

from enum import StrEnum

from nodewright.api import PluginConfig


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
