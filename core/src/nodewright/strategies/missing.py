"""Stand-ins for plugins that could not be made and may have protected nodes: they keep them all."""

from collections.abc import Sequence

from nodewright.api import (
    DrainContext,
    DrainRule,
    Node,
    Plugin,
    PluginConfig,
    Pod,
    ProcessorContext,
    ScaleDownCandidatesProcessor,
    hookimpl,
)


class MissingDrainRule(DrainRule):
    """Takes the place of a drain rule, and keeps all nodes with pods.

    No one knows which of them the rule would have kept.
    """

    alike = True

    def judge(self, pod: Pod, context: DrainContext) -> str:
        """Keep the node."""
        return "DrainRuleMissing"


class MissingCandidates(ScaleDownCandidatesProcessor):
    """Takes the place of a step of the candidates for removal, and leaves none."""

    def process(self, nodes: Sequence[Node], context: ProcessorContext) -> Sequence[Node]:
        """Leave no node."""
        return ()


class MissingVeto(Plugin):
    """Takes the place of a plugin that may have vetoed removals, and vetoes them all."""

    def __init__(self, config: PluginConfig) -> None:
        super().__init__(config)

    @hookimpl
    def veto_scale_down(self) -> str:
        """Refuse."""
        return "could not be loaded, see the log"
