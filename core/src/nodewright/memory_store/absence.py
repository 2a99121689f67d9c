"""An absence: what memory is still worth after nobody looked for a while."""

from dataclasses import replace
from datetime import datetime, timedelta

from nodewright.decision.memory import Memory

#: So long nobody may have looked and it counts as if somebody had: a restart, a change of leaders.
BEARABLE = timedelta(minutes=5)
#: So far clocks of two machines may be apart.
_SKEW = timedelta(minutes=1)


def after_absence(memory: Memory, seen_at: datetime, now: datetime) -> tuple[Memory, str]:
    """Return *memory*, last known to be right at *seen_at*, as it may be gone by at *now*; and what is wrong with it.

    What counts since when something has been so is void if nobody looked for long: a node that was not needed then may
    have been needed since, and a machine that did not come may have been unable to. It starts anew. What lasts until a
    time (back-offs, say) and what was learnt holds on. The text is empty if nothing is wrong.
    """
    absence = now - seen_at
    if absence < -_SKEW:
        # No time in it can be compared with ours.
        kept = Memory(templates=memory.templates, hints=memory.hints, turn=memory.turn)
        return kept, f"it is from {seen_at:%Y-%m-%d %H:%M:%S}, which is still to come: times are forgotten"
    if absence <= BEARABLE:
        return memory, ""
    kept = replace(
        memory,
        unneeded_since={},
        unexamined=(),
        unregistered_since={},
        # What is still on its way is found in the cloud, and gets its full time again.
        requests={},
        intentions=(),
        shortages={},
        unhealthy_since=None,
        # Marks of removals are taken off, unless the cloud is deleting the machine.
        removals={},
        replacements=(),
        examined="",
    )
    return kept, f"nobody has looked since {seen_at:%Y-%m-%d %H:%M:%S}: timers, orders and removals begin anew"
