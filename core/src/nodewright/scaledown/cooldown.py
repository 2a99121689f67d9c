"""The cooldown: after nodes came, went or would not go, none begins to go for a while."""

from datetime import datetime

from nodewright.config.model import ScaleDown
from nodewright.memory import Memory


def cooldown(memory: Memory, settings: ScaleDown, now: datetime) -> str | None:
    """Return until when, and after what, no node begins to go; None if nodes may go."""
    for last, delay, event in (
        (memory.last_scale_up, settings.delay_after_add, "scale-up"),
        (memory.last_scale_down, settings.delay_after_delete, "removal"),
        (memory.last_scale_down_failure, settings.delay_after_failure, "failed removal"),
    ):
        if last is not None and now < last + delay:
            return f"until {last + delay:%H:%M:%S}, after a {event}"
    return None
