"""Who is called, in which order, and what becomes of the answer and of an exception."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from nodewright.api import (
    Decision,
    Estimate,
    GroupFacts,
    Node,
    NodeTemplate,
    Option,
    Outcome,
    PluginError,
    PodSet,
    Problem,
    hookimpl,
)
from nodewright.plugins import Faults, Hooks, Veto
from nodewright.plugins.hookimpls import HOOKS
from nodewright.testing import EPOCH, SteppedClock, a_group, a_node, a_pod, a_template, an_option, pods_like

GROUPS = (a_group("a"), a_group("b"))
TEMPLATE = a_template(cpu="4")
PODS = (pods_like(a_pod("web"), 2), pods_like(a_pod("db"), 1))
OPTIONS = (an_option("a"), an_option("b"))
NODES = (a_node("n1"), a_node("n2"))
ESTIMATE = Estimate(nodes=2, pods=PODS)
DECISION = Decision(at=EPOCH)
OUTCOME = Outcome(at=EPOCH, action="grow", target="a", ok=True)

#: Every hook with values to call it with.
CALLS: dict[str, dict[str, Any]] = {
    "adjust_groups": {"groups": GROUPS},
    "adjust_template": {"group": GROUPS[0], "template": TEMPLATE},
    "adjust_pending_pods": {"pods": PODS, "now": EPOCH},
    "adjust_estimate": {"group": GROUPS[0], "pods": PODS, "estimate": ESTIMATE},
    "adjust_options": {"options": OPTIONS},
    "veto_scale_up": {"option": OPTIONS[0], "now": EPOCH},
    "adjust_candidates": {"nodes": NODES, "now": EPOCH},
    "veto_scale_down": {"node": NODES[0], "group": GROUPS[0], "now": EPOCH},
    "on_decision": {"decision": DECISION},
    "on_outcome": {"outcome": OUTCOME},
    "on_config_refused": {"problems": (Problem(message="no"),)},
    "on_config_changed": {},
}
#: What each answers when no plugin implements it.
UNTOUCHED = {
    hook: next(iter(values.values()), None) if hook.startswith("adjust") else None for hook, values in CALLS.items()
} | {"adjust_template": TEMPLATE, "adjust_estimate": ESTIMATE}


class World:
    """Hooks with plugins, and the faults they made."""

    def __init__(self, **plugins: object) -> None:
        self.faults = Faults(SteppedClock())
        self.hooks = Hooks(self.faults)
        self.hooks.register_in_order(list(plugins.items()))

    def call(self, hook: str) -> Any:
        return getattr(self.hooks, hook)(**CALLS[hook])


def plugin(hook: str, function: Callable[..., object]) -> object:
    """A plugin with one hook, whose implementation takes all that the hook gives."""
    arguments = ", ".join(HOOKS[hook])
    implementation = eval(f"lambda self, {arguments}: function({arguments})", {"function": function})
    return type("Mine", (), {hook: hookimpl(implementation)})()


def fail(*_: object) -> None:
    raise RuntimeError("boom")


def test_every_hook_has_its_method() -> None:
    assert {*CALLS, "on_fault"} == set(HOOKS)


@pytest.mark.parametrize("hook", CALLS)
def test_without_plugins_nothing_changes(hook) -> None:
    assert World().call(hook) == UNTOUCHED[hook]


@pytest.mark.parametrize("hook", CALLS)
def test_a_plugin_gets_what_the_hook_gives_and_none_changes_nothing(hook) -> None:
    calls: list[tuple[object, ...]] = []
    world = World(mine=plugin(hook, lambda *given: calls.append(given)))
    assert world.call(hook) == UNTOUCHED[hook]
    assert calls == [tuple(CALLS[hook].values())]
    assert world.faults.counts == {}


@pytest.mark.parametrize("hook", CALLS)
def test_a_plugin_that_raises_is_noted_and_the_next_one_goes_on(hook) -> None:
    calls: list[str] = []
    world = World(bad=plugin(hook, fail), good=plugin(hook, lambda *_: calls.append("good")))
    answer = world.call(hook)
    assert world.faults.counts == {("bad", hook): 1}
    match hook:
        case "adjust_candidates":
            assert answer == ()
        case "veto_scale_down":
            assert answer == Veto(plugin="bad", reason="failed, see the log")
            return
        case _:
            assert answer == UNTOUCHED[hook]
    assert calls == ["good"]


@pytest.mark.parametrize("hook", [hook for hook in CALLS if not hook.startswith("on_")])
def test_an_answer_of_the_wrong_type_counts_as_an_exception(hook) -> None:
    world = World(bad=plugin(hook, lambda *_: 42))
    answer = world.call(hook)
    assert world.faults.counts == {("bad", hook): 1}
    assert (
        answer
        == {
            **UNTOUCHED,
            "adjust_candidates": (),
            "veto_scale_down": Veto(plugin="bad", reason="failed, see the log"),
        }[hook]
    )


@pytest.mark.parametrize("hook", CALLS)
def test_ctrl_c_in_a_hook_ends_the_program(hook) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        World(mine=plugin(hook, interrupt)).call(hook)


def test_what_observers_return_is_ignored() -> None:
    world = World(mine=plugin("on_decision", lambda _: "anything"))
    world.hooks.on_decision(DECISION)
    assert world.faults.counts == {}


class TestChains:
    """Plugins see what the one before them returned."""

    def test_groups_are_changed_and_left_out_in_turn(self) -> None:
        class Smaller:
            @hookimpl
            def adjust_groups(self, groups: Sequence[GroupFacts]) -> Sequence[GroupFacts]:
                return [replace(group, max_size=group.max_size // 2) for group in groups]

        class Without:
            @hookimpl
            def adjust_groups(self, groups: Sequence[GroupFacts]) -> Sequence[GroupFacts]:
                return [group for group in groups if group.id != "a" and group.max_size == 5]

        groups = World(smaller=Smaller(), without=Without()).hooks.adjust_groups(GROUPS)
        assert [(group.id, group.max_size) for group in groups] == [("b", 5)]

    def test_a_template_is_corrected_in_turn(self) -> None:
        class Bigger:
            @hookimpl
            def adjust_template(self, template: NodeTemplate) -> NodeTemplate:
                return replace(template, allocatable={"cpu": template.allocatable["cpu"] * 2})

        world = World(one=Bigger(), two=Bigger())
        assert world.hooks.adjust_template(GROUPS[0], TEMPLATE).allocatable == {"cpu": 16000}

    def test_pods_are_taken_off(self) -> None:
        class Quota:
            @hookimpl
            def adjust_pending_pods(self, pods: Sequence[PodSet]) -> Sequence[PodSet]:
                return [pods[0]]

        assert World(quota=Quota()).hooks.adjust_pending_pods(PODS, EPOCH) == PODS[:1]

    def test_what_a_plugin_invents_is_not_taken(self) -> None:
        invent: dict[str, object] = {
            "adjust_groups": [*GROUPS, a_group("c")],
            "adjust_pending_pods": [*PODS, pods_like(a_pod("new"), 1)],
            "adjust_options": [an_option("a", nodes=100)],
            "adjust_candidates": [*NODES, a_node("n3")],
        }
        for hook, invention in invent.items():
            world = World(mine=plugin(hook, lambda *_, invention=invention: invention))
            assert world.call(hook) == ({**UNTOUCHED, "adjust_candidates": ()}[hook])
            assert world.faults.counts == {("mine", hook): 1}

    def test_an_estimate_is_lowered_in_turn(self) -> None:
        class OneLess:
            @hookimpl
            def adjust_estimate(self, pods: Sequence[PodSet], estimate: Estimate) -> Estimate:
                assert pods == PODS
                return Estimate(nodes=estimate.nodes - 1, pods=estimate.pods[:1])

        world = World(one=OneLess(), two=OneLess())
        assert world.call("adjust_estimate") == Estimate(nodes=0, pods=PODS[:1])
        assert world.faults.counts == {}

    @pytest.mark.parametrize(
        "invention",
        [
            Estimate(nodes=3, pods=PODS),
            Estimate(nodes=-1, pods=()),
            Estimate(nodes=1.5, pods=()),  # type: ignore[arg-type]
            Estimate(nodes=2, pods=(*PODS, pods_like(a_pod("new"), 1))),
        ],
    )
    def test_an_estimate_is_never_raised(self, invention) -> None:
        world = World(mine=plugin("adjust_estimate", lambda *_: invention))
        assert world.call("adjust_estimate") == ESTIMATE
        assert world.faults.counts == {("mine", "adjust_estimate"): 1}

    def test_an_empty_answer_is_an_answer(self) -> None:
        assert World(mine=plugin("adjust_options", lambda _: [])).hooks.adjust_options(OPTIONS) == ()


class TestVetoes:
    """The first reason wins."""

    def test_the_first_refusal_is_the_answer(self) -> None:
        calls: list[str] = []
        world = World(
            silent=plugin("veto_scale_down", lambda *_: None),
            first=plugin("veto_scale_down", lambda node, group, now: f"{node.name} of {group.id} is mine"),
            second=plugin("veto_scale_down", lambda *_: calls.append("second")),
        )
        veto = world.hooks.veto_scale_down(NODES[0], GROUPS[0], EPOCH)
        assert veto == Veto(plugin="first", reason="n1 of a is mine")
        assert str(veto) == "first: n1 of a is mine"
        assert calls == []

    def test_an_option_is_refused_in_words(self) -> None:
        world = World(budget=plugin("veto_scale_up", lambda option, now: f"{option.group.id} costs too much"))
        assert world.hooks.veto_scale_up(OPTIONS[1], EPOCH) == Veto(plugin="budget", reason="b costs too much")

    def test_a_failing_plugin_keeps_no_pods_waiting_but_the_next_may_refuse(self) -> None:
        world = World(bad=plugin("veto_scale_up", fail), good=plugin("veto_scale_up", lambda *_: "no"))
        assert world.hooks.veto_scale_up(OPTIONS[0], EPOCH) == Veto(plugin="good", reason="no")

    def test_an_empty_reason_is_a_fault(self) -> None:
        world = World(bad=plugin("veto_scale_up", lambda *_: ""))
        assert world.hooks.veto_scale_up(OPTIONS[0], EPOCH) is None
        assert world.faults.counts == {("bad", "veto_scale_up"): 1}


class TestFaultObservers:
    """Plugins hear of the faults of others on the loop's thread."""

    def test_faults_are_told_before_the_next_decision(self) -> None:
        told: list[object] = []
        world = World(
            bad=plugin("adjust_options", fail),
            pager=plugin("on_fault", lambda *fault: told.append(fault)),
            log=plugin("on_decision", told.append),
        )
        world.hooks.adjust_options(OPTIONS)
        world.faults.note("aws", "refresh", LookupError("gone"))
        assert told == []
        world.hooks.on_decision(DECISION)
        assert told == [
            ("bad", "adjust_options", "RuntimeError: boom"),
            ("aws", "refresh", "LookupError: gone"),
            DECISION,
        ]
        world.hooks.deliver_faults()
        assert len(told) == 3

    def test_a_fault_in_the_fault_hook_is_counted_but_not_told(self) -> None:
        world = World(pager=plugin("on_fault", fail))
        world.faults.note("aws", "refresh", LookupError("gone"))
        world.hooks.deliver_faults()
        world.hooks.deliver_faults()
        assert world.faults.counts == {("aws", "refresh"): 1, ("pager", "on_fault"): 1}

    def test_faults_that_are_never_delivered_do_not_pile_up(self) -> None:
        told: list[object] = []
        world = World(pager=plugin("on_fault", lambda *fault: told.append(fault[2])))
        for number in range(1500):
            world.faults.note("aws", "refresh", LookupError(str(number)))
        world.hooks.deliver_faults()
        assert (len(told), told[-1]) == (1000, "LookupError: 1499")

    def test_hooks_of_a_configuration_that_was_replaced_hear_nothing_more(self) -> None:
        told: list[object] = []
        world = World(pager=plugin("on_fault", lambda *fault: told.append(fault)))
        world.hooks.close()
        world.faults.note("aws", "refresh", LookupError("gone"))
        world.hooks.deliver_faults()
        assert told == []


class TestOrder:
    """Plugins of a configuration are called in its order; any other as in pluggy, the last one first."""

    @pytest.fixture
    def order(self) -> list[str]:
        """The names of plugins as they are called."""
        return []

    @pytest.fixture
    def named(self, order: list[str]) -> Callable[..., object]:
        """Makes a plugin that writes its name down."""

        def named(name: str, **place: bool) -> object:
            def on_decision(self: object) -> None:
                order.append(name)

            return type("Mine", (), {"on_decision": hookimpl(**place)(on_decision)})()

        return named

    def test_in_order_of_the_configuration_but_for_those_that_ask_for_a_place(self, order, named) -> None:
        world = World(
            a=named("a"),
            last=named("last", trylast=True),
            first=named("first", tryfirst=True),
            b=named("b"),
            c=named("c"),
        )
        world.hooks.on_decision(DECISION)
        assert order == ["first", "a", "b", "c", "last"]

    def test_a_plugin_that_is_registered_later_comes_first_unless_it_asks_to_be_last(self, order, named) -> None:
        world = World(a=named("a"), last=named("last", trylast=True))
        world.hooks.register("later", named("later"))
        world.hooks.register("very-last", named("very-last", trylast=True))
        world.hooks.on_decision(DECISION)
        assert order == ["later", "a", "last", "very-last"]

    def test_plugins_can_be_put_into_another_order(self, order, named) -> None:
        a, b, c = named("a"), named("b"), named("c")
        world = World(b=b, c=c)
        world.hooks.register_in_order([("c", c), ("a", a), ("b", b)])
        world.hooks.on_decision(DECISION)
        assert order == ["c", "a", "b"]


class TestRegistering:
    """A plugin is registered whole or not at all."""

    def test_an_argument_with_a_default_is_given_too(self) -> None:
        class Mine:
            @hookimpl
            def veto_scale_down(self, group: GroupFacts, node: Node | None = None) -> str:
                return f"{node.name if node else 'nothing'} of {group.id}"

        assert World(mine=Mine()).call("veto_scale_down").reason == "n1 of a"

    def test_two_methods_of_one_plugin_may_implement_one_hook(self) -> None:
        calls: list[str] = []

        class Mine:
            @hookimpl
            def on_outcome(self) -> None:
                calls.append("one")

            @hookimpl(specname="on_outcome")
            def note(self) -> None:
                calls.append("two")

        World(mine=Mine()).call("on_outcome")
        assert sorted(calls) == ["one", "two"]

    def test_the_hooks_that_a_plugin_implements_are_told(self) -> None:
        class Two:
            @hookimpl
            def on_outcome(self) -> None: ...

            @hookimpl(specname="on_decision")
            def remember(self, *, decision: Decision) -> None: ...

            @hookimpl(optionalhook=True)
            def on_the_day_after_tomorrow(self, whatever: int) -> None: ...

        hooks = Hooks(Faults(SteppedClock()))
        assert sorted(hooks.register("two", Two())) == ["on_decision", "on_outcome"]
        assert hooks.register("none", object()) == ()

    def test_static_and_class_methods_are_called_too(self) -> None:
        class Mine:
            @staticmethod
            @hookimpl
            def veto_scale_up(option: Option) -> str:
                return f"static {option.group.id}"

            @classmethod
            @hookimpl
            def veto_scale_down(cls, node: Node) -> str:
                return f"class {node.name}"

        world = World(mine=Mine())
        assert world.call("veto_scale_up").reason == "static a"
        assert world.call("veto_scale_down").reason == "class n1"

    def test_a_forgotten_plugin_is_not_called_any_more(self) -> None:
        mine = plugin("veto_scale_up", lambda *_: "no")
        world = World(mine=mine)
        world.hooks.unregister(mine)
        world.hooks.unregister(mine)
        assert world.call("veto_scale_up") is None

    def test_two_plugins_of_one_name_are_told_apart(self) -> None:
        world = World()
        world.hooks.register_in_order([("aws", plugin("on_outcome", fail)), ("aws", plugin("on_outcome", fail))])
        world.call("on_outcome")
        assert world.faults.counts == {("aws", "on_outcome"): 1, ("aws-2", "on_outcome"): 1}

    def test_one_plugin_is_not_registered_twice(self) -> None:
        mine = plugin("on_outcome", fail)
        world = World(mine=mine)
        with pytest.raises(PluginError, match=r"^plugin 'again' is registered already$"):
            world.hooks.register("again", mine)

    @pytest.mark.parametrize(
        ("method", "problem"),
        [
            (
                "def veto_scale_dwn(self): ...",
                "Mine.veto_scale_dwn implements a hook that does not exist: did you mean 'veto_scale_down'?",
            ),
            (
                "def veto_scale_down(node): ...",
                "Mine.veto_scale_down takes node in the place of self: write def veto_scale_down(self, node)",
            ),
            ("def make_coffee(self): ...", "Mine.make_coffee implements a hook that does not exist"),
            (
                "def veto_scale_down(self, nod): ...",
                "Mine.veto_scale_down takes an argument 'nod', but the hook gives node and group and now",
            ),
            (
                "def on_config_changed(self, config=None): ...",
                "Mine.on_config_changed takes an argument 'config', but the hook gives none",
            ),
            (
                "def on_fault(self, **facts): ...",
                "Mine.on_fault takes **facts: name the arguments it needs, of plugin and where and error",
            ),
            (
                "async def on_decision(self): ...",
                "Mine.on_decision is a coroutine, which is never awaited: write it as a plain method",
            ),
            (
                "def on_decision(self): yield",
                "Mine.on_decision is a generator or a hook wrapper: write it as a plain method that returns its answer",
            ),
        ],
    )
    def test_a_hook_that_can_not_work_is_refused_by_name(self, method, problem) -> None:
        assert self.refusal(f"@hookimpl\n    {method}") == f"plugin 'mine' can't be used: {problem}"

    def test_a_hook_without_its_mark_is_refused_too(self) -> None:
        assert self.refusal("def on_decision(self): ...") == (
            "plugin 'mine' can't be used: Mine.on_decision is named like a hook: mark it with @hookimpl, or rename it"
        )

    @staticmethod
    def refusal(method: str) -> str:
        """The message with which a plugin is refused that has *method* and a good one, which is not registered then."""
        names: dict[str, Any] = {"hookimpl": hookimpl, "called": []}
        exec(f"class Mine:\n    @hookimpl\n    def on_outcome(self): called.append(1)\n    {method}", names)
        world = World()
        with pytest.raises(PluginError) as caught:
            world.hooks.register("mine", names["Mine"]())
        world.call("on_outcome")
        assert names["called"] == []
        assert caught.value.plugin == "mine"
        return str(caught.value)
