"""Expanders that ask outside: their answers are recorded, and a decision is made again without asking."""

from dataclasses import replace
from datetime import timedelta

import msgspec
from nodewright.api import Answer, Decision, Expander, Notice, Plugin, hookimpl
from nodewright.decision.decide import decide
from nodewright.decision.memory import Memory
from nodewright.testing import EPOCH, a_group, a_pod
from nodewright.testing.worlds import a_policy, a_world

NOW = EPOCH + timedelta(hours=1)


class Oracle(Expander):
    """Asks outside: each time it is another group, or an error."""

    asks_outside = True

    def __init__(self, *answers):
        super().__init__(self.Config())
        self.answers = list(answers)

    def best(self, options, context):
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        context.notice("Heard", f"the oracle said {answer!r}", warning=False)
        return [option for option in reversed(options) if option.group.id in answer]


class Veto(Plugin):
    """Refuses some groups."""

    def __init__(self, groups):
        super().__init__(self.Config())
        self.groups = groups

    @hookimpl
    def veto_scale_up(self, option):
        return "not now" if option.group.id in self.groups else None


def world(pods=3):
    return a_world(groups=[a_group(name) for name in "abc"], pods=[a_pod(f"web-{number}") for number in range(pods)])


def decided(policy, of=None):
    decision, _, _ = decide(of or world(), Memory(), policy, NOW)
    return decision


def grown(decision):
    return [grow.group for grow in decision.grow]


def test_what_was_heard_is_part_of_the_decision_and_survives_json() -> None:
    decision = decided(a_policy(expanders={"oracle": Oracle("b")}))
    (answer,) = decision.answers
    assert replace(answer, question="") == Answer(
        expander="oracle",
        offered=("a", "b", "c"),
        question="",
        kept=("b",),
        notices=(Notice(reason="Heard", message="the oracle said 'b'", warning=False),),
    )
    assert grown(decision) == ["b"]
    assert msgspec.json.decode(msgspec.json.encode(decision), type=Decision) == decision


def test_expanders_that_do_not_ask_outside_leave_no_answers() -> None:
    assert decided(a_policy()).answers == ()


def test_a_decision_made_again_with_its_answers_is_the_same_and_no_expander_is_asked() -> None:
    # Two options are left, in an order of the oracle's own: chance is loaded with it.
    decision = decided(a_policy(expanders={"oracle": Oracle("ac")}))
    assert decision.answers[0].kept == ("c", "a")
    replaying = a_policy(expanders={"oracle": Oracle()})
    again = decided(replace(replaying, answers=decision.answers))
    assert again == decision
    assert not replaying.faults.counts


def test_each_question_of_one_decision_has_its_answer() -> None:
    oracle = Oracle("b", "c")
    decision = decided(a_policy(expanders={"oracle": oracle}, hooks={"veto": Veto("b")}))
    assert [(answer.offered, answer.kept) for answer in decision.answers] == [
        (("a", "b", "c"), ("b",)),
        (("a", "c"), ("c",)),
    ]
    replaying = a_policy(expanders={"oracle": Oracle()}, hooks={"veto": Veto("b")})
    assert decided(replace(replaying, answers=decision.answers)) == decision
    assert grown(decision) == ["c"]


def test_a_failure_keeps_all_options_and_is_on_record_with_its_reason() -> None:
    policy = a_policy(expanders={"oracle": Oracle(TimeoutError("no answer"))})
    decision = decided(policy)
    (answer,) = decision.answers
    assert (answer.kept, answer.error) == (("a", "b", "c"), "TimeoutError: no answer")
    assert policy.faults.counts == {("oracle", "best"): 1}
    replaying = a_policy(expanders={"oracle": Oracle()})
    assert decided(replace(replaying, answers=decision.answers)) == decision
    assert not replaying.faults.counts


def test_who_failed_is_not_waited_for_a_second_time_by_the_same_decision() -> None:
    policy = a_policy(expanders={"oracle": Oracle(TimeoutError("no answer"))}, hooks={"veto": Veto("abc")})
    decision = decided(policy)
    assert [(len(answer.kept), answer.error) for answer in decision.answers] == [
        (count, "TimeoutError: no answer") for count in (3, 2, 1)
    ]
    assert policy.faults.counts == {("oracle", "best"): 1}
    replaying = a_policy(expanders={"oracle": Oracle()}, hooks={"veto": Veto("abc")})
    assert decided(replace(replaying, answers=decision.answers)) == decision


def test_an_answer_that_breaks_the_contract_counts_as_a_failure() -> None:
    class Liar(Oracle):
        def best(self, options, context):
            return [*options, options[0]]

    (answer,) = decided(a_policy(expanders={"liar": Liar()})).answers
    assert answer.kept == ("a", "b", "c")
    assert answer.error == (
        "TypeError: returned an option to grow a, which is not one of those it was given, or not only once"
    )


def test_an_answer_to_nothing_acceptable_is_an_answer() -> None:
    decision = decided(a_policy(expanders={"oracle": Oracle("")}))
    assert (decision.answers[0].kept, decision.answers[0].error, decision.grow) == ((), "", ())


def test_answers_to_other_questions_are_not_taken() -> None:
    decision = decided(a_policy(expanders={"oracle": Oracle("b")}))
    replaying = replace(a_policy(expanders={"oracle": Oracle()}), answers=decision.answers)
    other = decided(replaying, of=world(pods=4))
    assert other.answers == ()
    assert [notice.message for notice in other.notices] == [
        "oracle was not asked about these options when its answers were recorded; all of them are kept"
    ]
    assert len(other.grow) == 1


def test_no_answers_on_record_are_not_the_same_as_none() -> None:
    replaying = replace(a_policy(expanders={"oracle": Oracle()}), answers=())
    assert [notice.reason for notice in decided(replaying).notices] == ["NoAnswerOnRecord"]
    assert not replaying.faults.counts


def test_the_order_in_which_pods_came_does_not_change_the_question() -> None:
    decision = decided(a_policy(expanders={"oracle": Oracle("b")}))
    backwards = a_world(groups=[a_group(name) for name in "abc"], pods=[a_pod(f"web-{number}") for number in (2, 1, 0)])
    replaying = replace(a_policy(expanders={"oracle": Oracle()}), answers=decision.answers)
    assert decided(replaying, of=backwards).answers == decision.answers
