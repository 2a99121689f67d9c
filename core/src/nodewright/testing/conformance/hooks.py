"""The conformance suite of hooks: what else a plugin does, beside what YAML names it for."""

import contextlib
import dataclasses
import json
import time
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, ClassVar

import pytest
from msgspec.structs import replace
from pydantic import ValidationError

from nodewright.api import (
    Estimate,
    GroupFacts,
    Node,
    NodeTemplate,
    Option,
    Plugin,
    PodSet,
    Provider,
)
from nodewright.objects import PodSpec, Taint
from nodewright.plugins.hookimpls import HOOKS, implementations
from nodewright.plugins.hooks import answer_check
from nodewright.plugins.results import all_of, instance_of, optional, words
from nodewright.testing.builders import a_group, a_node, a_pod, an_option, pods_like
from nodewright.testing.conformance.annotations import advice, as_read
from nodewright.testing.conformance.questions import Questions, hooks_of
from nodewright.testing.conformance.strategy import reborn, shown, shown_apart, was_refused_a_change
from nodewright.testing.conformance.suite import Requirement, Suite, requires
from nodewright.testing.conformance.time_limit import time_limit

_NOW = datetime(2024, 5, 13, 9, tzinfo=UTC)
_VETOES = ("veto_scale_up", "veto_scale_down")
#: What the core expects of the answer of each hook to what it was given, unless it is None.
_ANSWERS: Mapping[str, Callable[[Mapping[str, Any]], Callable[[object], object]]] = {
    "adjust_groups": lambda given: all_of(GroupFacts, given["groups"]),
    "adjust_template": lambda given: instance_of(NodeTemplate, [given["template"]]),
    "adjust_pending_pods": lambda given: all_of(PodSet, given["pods"]),
    "adjust_candidates": lambda given: all_of(Node, given["nodes"]),
    "adjust_estimate": lambda given: instance_of(Estimate, [given["estimate"]]),
    "adjust_options": lambda given: all_of(Option, given["options"]),
}
#: As many of everything as a large cluster has.
_MANY = 500


@dataclass(frozen=True, kw_only=True)
class _Asked:
    """A hook that was called: with what, and what came of it."""

    hook: str
    given: Mapping[str, Any]
    answer: object = None
    error: Exception | None = None

    @property
    def wrong(self) -> str:
        """What the core says against the type of the answer; empty if it takes it."""
        if self.hook in _OBSERVERS:
            return ""
        check = words if self.hook in _VETOES else _ANSWERS[self.hook](self.given)
        try:
            optional(check)(self.answer)
        except TypeError as error:
            return str(error)
        return ""

    @property
    def tried_to_change(self) -> bool:
        """Whether it failed because what it was given can't be changed."""
        return was_refused_a_change(self.error)


def _implements(*hooks: str) -> Requirement:
    def requirement(request: pytest.FixtureRequest) -> str:
        there = hooks_of(request.getfixturevalue("plugin"))
        return "" if there & set(hooks) else f"the plugin implements none of {', '.join(sorted(hooks))}"

    return requirement


def _has_settings(request: pytest.FixtureRequest) -> str:
    plugin = request.getfixturevalue("plugin")
    return "" if isinstance(plugin, Plugin) and type(plugin.config).model_fields else "the plugin has no settings"


def _can_be_reborn(request: pytest.FixtureRequest) -> str:
    plugin = request.getfixturevalue("plugin")
    alone = isinstance(plugin, Plugin) and not isinstance(plugin, Provider)
    return "" if alone else "the plugin is not made from its settings alone"


_ABOUT_PODS = ("adjust_pending_pods", "adjust_estimate", "adjust_options", "veto_scale_up")
_OBSERVERS = tuple(hook for hook in HOOKS if hook not in _ANSWERS and hook not in _VETOES)
_DECIDING = tuple(hook for hook in HOOKS if hook not in _OBSERVERS)


class HookConformance(Suite):
    """All that the core relies on in hooks, whatever plugin has them. A subclass overrides the fixture ``plugin``.

    It may override ``groups``, ``pods``, ``nodes`` and ``options`` as well: what the hooks are asked about, such as
    objects with the labels that the plugin goes by.
    """

    #: Seconds that a hook may take for one call; a decision waits for it.
    limit: ClassVar[float] = 0.5
    #: Seconds after which a test is given up because a hook does not return; 0 for never.
    longest: ClassVar[float] = 30.0

    @pytest.fixture(autouse=True)
    def _ends(self, request: pytest.FixtureRequest) -> Iterator[None]:
        advice = "(`longest`): the hook waits for something that does not come, in the line where this was raised"
        with time_limit(self.longest, request.config.stash, advice):
            yield

    @pytest.fixture
    def plugin(self) -> object:
        """The plugin under test."""
        raise NotImplementedError("override the fixture `plugin`: it returns a new one, configured as by users")

    @pytest.fixture
    def groups(self) -> list[GroupFacts]:
        """Groups that the hooks are asked about; all of them have a template."""
        return [
            a_group("workers", size=2, zone="eu-a", price=0.1),
            a_group("spare", size=1, min_size=1, zone="eu-b", labels={"team": "web"}),
        ]

    @pytest.fixture
    def pods(self) -> list[PodSet]:
        """Pending pods that the hooks are asked about."""
        return [
            pods_like(a_pod("web", cpu="500m", labels={"app": "web"}), 3),
            pods_like(a_pod("training", cpu="1", gpus=1, owner="Job/training", priority=1000), 2),
        ]

    @pytest.fixture
    def nodes(self) -> list[Node]:
        """Nodes that the hooks are asked about."""
        return [
            a_node("node-1", zone="eu-a", labels={"team": "web"}),
            a_node("node-2", cpu="8", zone="eu-b", ready=False, unschedulable=True),
            a_node("node-3", taints=[Taint(key="spot", value="yes")], annotations={"note": "old"}),
        ]

    @pytest.fixture
    def options(self, groups: list[GroupFacts], pods: list[PodSet]) -> list[Option]:
        """Ways to grow that the hooks are asked about."""
        return [an_option(group, nodes=number, pods=pods) for number, group in enumerate(groups, 1)]

    @pytest.fixture
    def questions(
        self,
        plugin: object,
        groups: list[GroupFacts],
        pods: list[PodSet],
        nodes: list[Node],
        options: list[Option],
    ) -> Questions:
        """All that is asked, made of the other fixtures, with those annotations that pods have in a cluster."""
        read = as_read(plugin, pods)
        return Questions(groups=groups, pods=pods, nodes=nodes, options=options).with_sets(read.sets)

    def test_it_has_a_hook(self, plugin: object) -> None:
        """At least one method is marked with `hookimpl`: a plugin without hooks is called for nothing."""
        with contextlib.suppress(ValueError):
            marked = implementations(type(plugin))
            assert marked, f"{type(plugin).__name__} implements no hook: there are {', '.join(HOOKS)}"

    def test_its_hooks_can_be_called(self, plugin: object) -> None:
        """Each hook exists, is a plain method marked with `hookimpl`, and takes arguments that the hook gives."""
        try:
            implementations(type(plugin))
        except ValueError as error:
            pytest.fail(str(error))

    @requires(_implements(*_ANSWERS))
    def test_answers_are_of_the_right_type(self, plugin: object, questions: Questions) -> None:
        """An `adjust_` hook returns None, or what its specification says."""
        for asked in _ask(plugin, questions):
            if asked.hook in _ANSWERS:
                assert not asked.wrong, f"{asked.hook} {asked.wrong}"

    @requires(_implements(*(hook for hook in _ANSWERS if hook != "adjust_template")))
    def test_answers_are_made_of_what_was_given(self, plugin: object, questions: Questions) -> None:
        """An `adjust_` hook adds nothing and repeats nothing: it leaves out, or changes where that is allowed."""
        for asked in _ask(plugin, questions):
            if asked.hook in _ANSWERS and asked.answer is not None and not asked.wrong:
                try:
                    answer_check(asked.hook, asked.given)(asked.answer)
                except TypeError as error:
                    pytest.fail(f"{asked.hook} {error}")

    @requires(_implements(*_VETOES))
    def test_a_veto_says_why(self, plugin: object, questions: Questions) -> None:
        """A `veto_` hook returns a reason in words, or None: users read it."""
        for asked in _ask(plugin, questions):
            if asked.hook in _VETOES:
                assert not asked.wrong, f"{asked.hook} {asked.wrong}: let it return None, or a reason in words"

    @requires(_implements(*_OBSERVERS))
    def test_observers_return_nothing(self, plugin: object, questions: Questions) -> None:
        """An `on_` hook returns None: whatever it returns has no effect, and somebody meant it to."""
        for asked in _ask(plugin, questions):
            if asked.hook in _OBSERVERS:
                assert asked.answer is None, f"{asked.hook} returned {shown(asked.answer)}, which nobody reads"

    @requires(_implements(*_DECIDING))
    def test_the_same_question_gets_the_same_answer(self, plugin: object, questions: Questions) -> None:
        """Asked again at once, it answers the same: a decision that is made again has to come out the same."""
        for hook, given in questions.of(plugin):
            first, again = (_call(plugin, hook, given) for _ in range(2))
            assert first.answer == again.answer or hook in _OBSERVERS, (
                f"{hook} returned {_told(first)} at first and {_told(again)} when asked again"
            )

    @requires(_implements(*_DECIDING), _can_be_reborn)
    def test_what_it_was_asked_before_makes_no_difference(self, plugin: Plugin, questions: Questions) -> None:
        """One that has been asked before answers like one that has not: nothing is kept between calls."""
        list(_ask(plugin, questions))
        list(_ask(plugin, questions))
        for hook, given in questions.of(plugin):
            if hook in _DECIDING:
                fresh, experienced = (_call(each, hook, given) for each in (reborn(plugin), plugin))
                assert fresh.answer == experienced.answer, (
                    f"{hook} returned {_told(experienced)} after other questions, else {_told(fresh)}"
                )

    def test_what_it_is_given_stays_as_it_is(self, plugin: object, questions: Questions) -> None:
        """Nothing that a hook is given is changed, all the way down: other plugins and the core go on with it."""
        for hook, given in questions.of(plugin):
            asked = _call(plugin, hook, given)
            if asked.tried_to_change:
                pytest.fail(f"{hook} tried to change what it was given: {asked.error}")
            for name, before in given.items():
                after = asked.given[name]
                one, other = shown_apart(before, after)
                assert after == before, f"{hook} changed {name}: before the call {one}, after it {other}"

    @requires(_implements(*_ABOUT_PODS))
    def test_annotations_that_it_reads_are_declared(
        self,
        plugin: object,
        groups: list[GroupFacts],
        pods: list[PodSet],
        options: list[Option],
    ) -> None:
        """Annotations of pods that it reads are in `pod_annotations`: in a cluster, others may be missing."""
        read = as_read(plugin, pods)
        questions = Questions(groups=groups, pods=pods, options=options).with_sets(read.watched_sets)
        for hook, given in questions.of(plugin):
            _call(plugin, hook, given, copied=True)
        assert not read.undeclared, advice(read.undeclared)

    def test_no_question_is_an_error(self, plugin: object, questions: Questions) -> None:
        """A hook raises nothing for groups, pods, nodes and decisions of every day."""
        _raise_nothing(_ask(plugin, questions))

    def test_nothing_to_look_at_is_no_error(self, plugin: object) -> None:
        """A cluster may have no groups, no pending pods, no candidates and no options, and a decision no action."""
        _raise_nothing(_ask(plugin, Questions()))

    def test_things_that_say_little_are_no_error(self, plugin: object) -> None:
        """Groups may have no template and no price, and pods and nodes no owner, labels, resources or times."""
        bare_pod = replace(a_pod("bare", owner=""), spec=PodSpec())
        bare_pod = replace(bare_pod, metadata=replace(bare_pod.metadata, creation_timestamp=None, labels={}))
        bare_node = Node(metadata=replace(a_node("bare").metadata, creation_timestamp=None))
        group, pods = dataclasses.replace(a_group("dark"), template=None), [pods_like(bare_pod, 2)]
        options = [an_option(group, pods=pods)]
        _raise_nothing(_ask(plugin, Questions(groups=[group], pods=pods, nodes=[bare_node], options=options)))

    def test_it_answers_in_time(self, plugin: object) -> None:
        """A hook answers within half a second (`limit`), also in a large cluster: a decision waits for it."""
        groups = [a_group(f"group-{number}", size=1) for number in range(_MANY // 5)]
        pods = [pods_like(a_pod(f"pod-{number}"), 2) for number in range(_MANY)]
        nodes = [a_node(f"node-{number}") for number in range(_MANY)]
        options = [an_option(group, pods=pods) for group in groups]
        many = Questions(groups=groups, pods=pods, nodes=nodes, options=options)
        # Of each hook one question is enough, and the last one is about as much as the first.
        for hook, given in dict(many.of(plugin)).items():
            # The machine may be busy with something else for a moment: the best of three counts.
            in_time = any(_duration(plugin, hook, given) <= self.limit for _ in range(3))
            assert in_time, f"{hook} took more than {self.limit:g} s, with {_MANY} nodes and pods"

    @requires(_has_settings)
    def test_its_settings_can_be_written_down(self, plugin: Plugin) -> None:
        """The settings, written as JSON and read again, are the same: `config show` and records do so."""
        kind = type(plugin.config)
        written = json.loads(plugin.config.model_dump_json(by_alias=True, exclude_unset=True))
        try:
            read = kind.model_validate(written)
        except ValidationError as error:
            pytest.fail(f"{kind.__name__} refuses what it has written itself, {shown(written)}: {error}")
        one, other = shown_apart(plugin.config, read)
        assert read == plugin.config, f"{kind.__name__} is {one}, and after JSON {shown(written)} it is {other}"


def _ask(plugin: object, questions: Questions) -> Iterator[_Asked]:
    return (_call(plugin, hook, given) for hook, given in questions.of(plugin))


def _call(plugin: object, hook: str, given: Mapping[str, Any], *, copied: bool = False) -> _Asked:
    """Call all of the plugin's methods for *hook* with copies of what is *given*; the last answer counts."""
    handed = given if copied else deepcopy(dict(given))
    asked = _Asked(hook=hook, given=handed)
    for each in implementations(type(plugin)):
        if each.hook == hook:
            method: Callable[..., object] = getattr(plugin, each.method)
            try:
                answer = method(**{name: handed[name] for name in each.takes})
            except Exception as error:
                return dataclasses.replace(asked, error=error)
            asked = dataclasses.replace(asked, answer=answer)
    return asked


def _duration(plugin: object, hook: str, given: Mapping[str, Any]) -> float:
    began = time.monotonic()
    _call(plugin, hook, given, copied=True)
    return time.monotonic() - began


def _raise_nothing(all_asked: Iterator[_Asked]) -> None:
    for asked in all_asked:
        if asked.error is not None and not asked.tried_to_change:
            pytest.fail(f"{asked.hook} raised {shown(asked.error)} when it was given {shown(asked.given)}")


def _names(answer: object) -> list[str]:
    """Return what *answer* is made of; nothing if it is of a wrong type, for which there is a test of its own."""
    match answer:
        case Estimate():
            return ["a node"] * answer.nodes + _names(answer.pods)
        case GroupFacts():
            return [f"group {answer.provider}/{answer.id}"]
        case PodSet():
            return [f"pod {key}" for key in answer.keys]
        case Option():
            return [f"an option for group {answer.group.id}"]
        case Node():
            return [f"node {answer.name}"]
        case list() | tuple():
            return [name for each in answer for name in _names(each)]
    return []


def _told(asked: _Asked) -> str:
    names = [] if asked.wrong else _names(asked.answer)
    return f"[{', '.join(names)}]" if names else shown(asked.answer)
