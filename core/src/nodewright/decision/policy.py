"""The policy of a decision: its settings, and the strategies that they name."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from time import monotonic

from nodewright.api.decision import Answer
from nodewright.api.drain_rule import DrainRule
from nodewright.api.estimator import Estimator
from nodewright.api.expander import Expander
from nodewright.api.group import GroupFacts, GroupOptions
from nodewright.api.processor import PendingPodsProcessor, ScaleDownCandidatesProcessor
from nodewright.config.effective import group_options
from nodewright.config.model import Settings
from nodewright.decision.timings import Timings
from nodewright.plugins.faults import Faults
from nodewright.plugins.hooks import Hooks


@dataclass(frozen=True, kw_only=True)
class Policy:
    """Settings and strategies. One policy serves many loops. A changed configuration makes a new one."""

    settings: Settings
    #: The strategies by the names that YAML gives them, in its order.
    estimator: tuple[str, Estimator]
    expanders: Mapping[str, Expander]
    pending_pods: Mapping[str, PendingPodsProcessor] = field(default_factory=dict)
    scale_down_candidates: Mapping[str, ScaleDownCandidatesProcessor] = field(default_factory=dict)
    drain_rules: Mapping[str, DrainRule]
    hooks: Hooks
    faults: Faults
    #: The annotations of pods that the strategies and hooks read.
    pod_annotations: frozenset[str] = frozenset()
    #: In a replay, the recorded answers of expanders that ask outside: they are not asked again, and keep all options
    #: where the record has no answer. None: they are asked.
    answers: tuple[Answer, ...] | None = None
    #: Seconds since some moment, for time limits within a decision.
    stopwatch: Callable[[], float] = monotonic
    #: How long parts of decisions take. No decision depends on it.
    timings: Timings = field(default_factory=Timings)

    def options_of(self, group: GroupFacts) -> GroupOptions:
        """The settings that hold for *group*: its rule in YAML, else its own (tags), else the general ones."""
        options, _ = group_options(self.settings, group.id, group.options)
        return options
