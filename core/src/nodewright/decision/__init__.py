"""The heart: a world, a memory and a policy go in; a decision that explains itself, and the next memory, come out.

`decide.py` lists the stages of a decision in their order, with a reason for each place. `stages.py` shows what each
reads and returns; the folders hold what they are made of. `memory/` has a slice for each owner. `runtime/cycle.py`
calls `decide` and carries the decision out.
"""

from nodewright.decision.decide import Decided, decide, decide_growth
from nodewright.decision.execution import Execution, Hold, to_be_kept
from nodewright.decision.findings import Findings
from nodewright.decision.memory import Memory
from nodewright.decision.policy import Policy
from nodewright.decision.world import World

__all__ = [
    "Decided",
    "Execution",
    "Findings",
    "Hold",
    "Memory",
    "Policy",
    "World",
    "decide",
    "decide_growth",
    "to_be_kept",
]
