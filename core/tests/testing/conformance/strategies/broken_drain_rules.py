"""A drain rule that keeps all rules, and one for each rule that breaks just that one."""

from nodewright.api import DrainRule, PodFate


class Batch(DrainRule):
    """Lets the node of a job wait."""

    def judge(self, pod, context):
        owner = pod.metadata.controller
        return PodFate.WAITS if owner is not None and owner.kind == "Job" else None

    def varies(self, pod, context):
        return False


class Mumbles(Batch):
    def judge(self, pod, context):
        return super().judge(pod, context) or (" " if pod.metadata.namespace == "kube-system" else None)


class GoesByAge(Batch):
    def judge(self, pod, context):
        born = pod.metadata.creation_timestamp
        return PodFate.STAYS if born and (context.now - born).days == 2 else super().judge(pod, context)


class GoesByTheHour(Batch):
    def judge(self, pod, context):
        return "ShopIsOpen" if context.now.hour > 6 else super().judge(pod, context)


class ContradictsItself(Batch):
    alike = True

    def varies(self, pod, context):
        return pod.metadata.namespace == "kube-system"


class NeedsContainers(Batch):
    def judge(self, pod, context):
        assert pod.spec.containers[0].name
        return super().judge(pod, context)


class Moody(Batch):
    last = None

    def judge(self, pod, context):
        asked = (pod.key, repr(context))
        again, self.last = asked == self.last, asked
        return PodFate.MOVES if again else super().judge(pod, context)


class LosesPatience(Batch):
    def __init__(self, config):
        super().__init__(config)
        self.owners = set()

    def judge(self, pod, context):
        self.owners.add(pod.metadata.controller and pod.metadata.controller.name)
        return PodFate.MOVES if len(self.owners) > 3 else super().judge(pod, context)


class ReadsTeams(Batch):
    def judge(self, pod, context):
        return PodFate.WAITS if "acme.dev/team" in pod.metadata.annotations else super().judge(pod, context)


class Labels(Batch):
    def judge(self, pod, context):
        fate = super().judge(pod, context)
        if pod.metadata.labels:
            # Round what would refuse it.
            dict.__setitem__(pod.metadata.labels, "fate", str(fate))
        return fate


BROKEN = {
    "test_the_answer_is_a_fate_a_reason_or_none": Mumbles,
    "test_pods_that_do_not_vary_share_their_fate": GoesByAge,
    "test_pods_that_do_not_vary_have_no_clock": GoesByTheHour,
    "test_alike_pods_do_not_vary": ContradictsItself,
    "test_pods_that_say_little_are_no_error": NeedsContainers,
    "test_the_same_question_gets_the_same_answer": Moody,
    "test_what_it_was_asked_before_makes_no_difference": LosesPatience,
    "test_what_it_is_given_stays_as_it_is": Labels,
    "test_annotations_that_it_reads_are_declared": ReadsTeams,
}
