"""Processors that keep all rules, and one for each rule that breaks just that one."""

from nodewright.api import PendingPodsProcessor, PodSet, Reason, ScaleDownCandidatesProcessor
from nodewright.testing import a_node, a_pod, pods_like

GHOST = pods_like(a_pod("ghost"), 1)


class Worthy(PendingPodsProcessor):
    """Takes off pods of a very low priority."""

    reason = Reason.EXPENDABLE

    def process(self, pods, context):
        return [same for same in pods if (same.pod.spec.priority or 0) > -10]


class Foresight(PendingPodsProcessor):
    """Adds pods that will come."""

    adds_pods = True
    coming = pods_like(a_pod("coming"), 2)

    def process(self, pods, context):
        known = {key for same in pods for key in same.keys}
        new = self.coming.without(known)
        return [*pods, new] if new else pods


class AddsUndeclared(Worthy):
    def process(self, pods, context):
        return [*super().process(pods, context), GHOST]


class Doubles(Worthy):
    def process(self, pods, context):
        kept = super().process(pods, context)
        return [*kept, *kept[:1]]


class LeavesHusks(Worthy):
    def process(self, pods, context):
        kept = super().process(pods, context)
        return [same if same in kept else PodSet(pod=same.pod, keys=()) for same in pods]


class TwoOfEachSet(Worthy):
    def process(self, pods, context):
        return [PodSet(pod=same.pod, keys=same.keys[:2]) for same in super().process(pods, context)]


class NeedsSomebody(Foresight):
    def process(self, pods, context):
        assert pods[0].keys
        return super().process(pods, context)


class AddsAgain(Foresight):
    def process(self, pods, context):
        return [*pods, self.coming]


class NeedsOwners(Worthy):
    def process(self, pods, context):
        assert all(same.pod.metadata.controller.kind for same in pods)
        return super().process(pods, context)


class KnowsFewGpus(Worthy):
    def process(self, pods, context):
        machines = {0: "plain", 1: "small", 8: "large"}
        assert all(machines[same.pod.requests.get("nvidia.com/gpu", 0)] for same in pods)
        return super().process(pods, context)


class NeedsTemplates(Worthy):
    def process(self, pods, context):
        assert context.groups[0].template.capacity
        return super().process(pods, context)


class MoodyAboutPods(Worthy):
    last = None

    def process(self, pods, context):
        asked = [same.keys for same in pods]
        again, self.last = asked == self.last, asked
        return [] if again else super().process(pods, context)


class RemembersLoners(Worthy):
    def __init__(self, config):
        super().__init__(config)
        self.loners = set()

    def process(self, pods, context):
        if len(pods) == 1:
            self.loners.add(pods[0].keys)
        return [same for same in super().process(pods, context) if len(pods) == 1 or same.keys not in self.loners]


class EmptiesTheList(Worthy):
    def process(self, pods, context):
        kept = super().process(pods, context)
        pods.clear()
        return kept


class ReadsTeams(Worthy):
    def process(self, pods, context):
        return [
            same for same in super().process(pods, context) if not same.pod.metadata.annotations.get("acme.dev/team")
        ]


class SpeaksFreely(Worthy):
    reason = "they are not worth it"


PENDING_PODS = {
    "test_it_adds_no_pods": AddsUndeclared,
    "test_it_returns_each_pod_once": Doubles,
    "test_it_returns_no_empty_sets": LeavesHusks,
    "test_pods_that_are_alike_share_their_fate": TwoOfEachSet,
    "test_nobody_waiting_is_no_error": NeedsSomebody,
    "test_pods_that_it_adds_are_new": AddsAgain,
    "test_pods_that_say_little_are_no_error": NeedsOwners,
    "test_pods_that_ask_for_much_are_no_error": KnowsFewGpus,
    "test_groups_without_a_template_are_no_error": NeedsTemplates,
    "test_annotations_that_it_reads_are_declared": ReadsTeams,
    "test_the_same_question_gets_the_same_answer": MoodyAboutPods,
    "test_what_it_was_asked_before_makes_no_difference": RemembersLoners,
    "test_what_it_is_given_stays_as_it_is": EmptiesTheList,
    "test_its_reason_has_a_code": SpeaksFreely,
}


class Ready(ScaleDownCandidatesProcessor):
    """Takes off nodes that are not ready."""

    def process(self, nodes, context):
        return [node for node in nodes if node.ready]


class AddsNodes(Ready):
    def process(self, nodes, context):
        return [*super().process(nodes, context), a_node("elsewhere")] if nodes else []


class DoublesNodes(Ready):
    def process(self, nodes, context):
        kept = super().process(nodes, context)
        return [*kept, *kept[:1]] if len(kept) > 1 else kept


class NeedsANode(Ready):
    def process(self, nodes, context):
        assert nodes[0]
        return super().process(nodes, context)


class NeedsTwoNodes(Ready):
    def process(self, nodes, context):
        assert len(nodes) != 1
        return super().process(nodes, context)


class NeedsAge(Ready):
    def process(self, nodes, context):
        assert all(context.now >= node.metadata.creation_timestamp for node in nodes)
        return super().process(nodes, context)


class NeedsGroups(Ready):
    def process(self, nodes, context):
        assert context.groups[0].id
        return super().process(nodes, context)


class MoodyAboutNodes(Ready):
    last = None

    def process(self, nodes, context):
        asked = [node.name for node in nodes]
        again, self.last = asked == self.last, asked
        return [] if again else super().process(nodes, context)


class HoldsAGrudge(Ready):
    seen = ""

    def process(self, nodes, context):
        kept = [node for node in super().process(nodes, context) if node.name != self.seen or len(nodes) == 2]
        self.seen = nodes[0].name if len(nodes) == 2 else self.seen
        return kept


class EmptiesNodes(Ready):
    def process(self, nodes, context):
        kept = super().process(nodes, context)
        nodes.clear()
        return kept


class SpeaksFreelyOfNodes(Ready):
    reason = "it is not ready"


CANDIDATES = {
    "test_the_answer_is_made_of_the_candidates": AddsNodes,
    "test_it_returns_each_node_once": DoublesNodes,
    "test_no_candidates_are_no_error": NeedsANode,
    "test_a_single_candidate_is_no_error": NeedsTwoNodes,
    "test_nodes_that_say_little_are_no_error": NeedsAge,
    "test_nodes_of_no_group_are_no_error": NeedsGroups,
    "test_the_same_question_gets_the_same_answer": MoodyAboutNodes,
    "test_what_it_was_asked_before_makes_no_difference": HoldsAGrudge,
    "test_what_it_is_given_stays_as_it_is": EmptiesNodes,
    "test_its_reason_has_a_code": SpeaksFreelyOfNodes,
}
