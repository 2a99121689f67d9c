"""A plugin whose hooks keep all rules, and one for each rule that breaks just that one."""

import time
from dataclasses import replace
from itertools import chain

from nodewright.api import Plugin, PluginConfig, hookimpl
from nodewright.testing import a_group
from pydantic import field_validator


class CurfewConfig(PluginConfig):
    opens_at: str = "08:00"
    teams: tuple[str, ...] = ("web",)


class Curfew(Plugin):
    """Has every hook that decides, and two that watch."""

    Config = CurfewConfig

    def __init__(self, config):
        super().__init__(config)
        self.seen = []

    @hookimpl
    def adjust_groups(self, groups):
        return [replace(group, max_size=min(group.max_size, 8)) for group in groups]

    @hookimpl
    def adjust_template(self, group, template):
        labels = {**template.labels, "open": self.config.opens_at}
        return replace(template, labels=labels) if group.min_size else None

    @hookimpl
    def adjust_pending_pods(self, pods):
        return [each for each in pods if each.pod.metadata.labels.get("app") != "batch"]

    @hookimpl
    def adjust_candidates(self, nodes):
        return [node for node in nodes if node.metadata.labels.get("team") not in self.config.teams]

    @hookimpl
    def adjust_estimate(self, estimate):
        return replace(estimate, nodes=min(estimate.nodes, 3))

    @hookimpl
    def adjust_options(self, options):
        return [option for option in options if option.nodes < 5]

    @hookimpl
    def veto_scale_up(self, option):
        return f"more than {option.nodes} nodes after hours" if option.nodes > 1 else None

    @hookimpl
    def veto_scale_down(self, node):
        return "web is precious" if node.metadata.labels.get("team") == "web" else None

    @hookimpl
    def on_decision(self, decision):
        self.seen.append(decision)

    @hookimpl
    def on_config_refused(self, problems):
        self.seen.extend(problems)


class Idle(Plugin):
    """Has a method, but no hook."""

    def watch(self, decision):
        return None


class Misspelt(Curfew):
    @hookimpl
    def on_decisions(self, decision):
        self.seen.append(decision)


class AnswersYes(Curfew):
    @hookimpl
    def adjust_candidates(self, nodes):
        return True


class AddsGroups(Curfew):
    @hookimpl
    def adjust_groups(self, groups):
        return [*groups, a_group("mine")] if groups else None


class SaysNothing(Curfew):
    @hookimpl
    def veto_scale_up(self, option):
        return "" if option.nodes > 1 else None


class Decides(Curfew):
    @hookimpl
    def on_decision(self, decision):
        return decision


class NeverTwice(Curfew):
    """Refuses what it was asked the last time."""

    last = None

    @hookimpl
    def veto_scale_down(self, node):
        last, self.last = self.last, node
        return "not again" if last == node else None


class RemembersNodes(Curfew):
    def __init__(self, config):
        super().__init__(config)
        self.names = set()

    @hookimpl
    def veto_scale_down(self, node):
        self.names.add(node.name)
        return "seen before" if len(self.names) > 2 else None


class WritesOnNodes(Curfew):
    @hookimpl
    def adjust_candidates(self, nodes):
        for node in nodes:
            node.metadata.annotations["seen"] = "yes"
        return nodes


class ReadsTeams(Curfew):
    @hookimpl
    def veto_scale_up(self, option):
        teams = {pods.pod.metadata.annotations.get("acme.dev/team") for pods in option.pods}
        return "only one team at a time" if len(teams) > 1 else None


class SortsInPlace(Curfew):
    @hookimpl
    def adjust_options(self, options):
        options.append(options.pop(0)) if options else None


class NeedsTeams(Curfew):
    @hookimpl
    def adjust_candidates(self, nodes):
        return [node for node in nodes if len(nodes) == 1 or node.metadata.labels["team"]]


class TakesTheFirst(Curfew):
    @hookimpl
    def adjust_options(self, options):
        return [options[0], *options[1:]]


class NeedsTimes(Curfew):
    @hookimpl
    def adjust_candidates(self, nodes):
        return [node for node in nodes if node.metadata.creation_timestamp.year > 2000]


class LooksAround(Curfew):
    """Thinks long about many nodes."""

    @hookimpl
    def adjust_candidates(self, nodes):
        time.sleep(0.6 if len(nodes) > 100 else 0)


class LocalConfig(CurfewConfig):
    opens_at: str = "08:00"

    @field_validator("teams")
    @classmethod
    def _once_more(cls, teams):
        return tuple(chain(teams, ("night",)))


class AddsATeam(Curfew):
    """Its settings change each time they are read."""

    Config = LocalConfig

    def __init__(self, config):
        super().__init__(LocalConfig(teams=("web",)))


BROKEN = {
    "test_it_has_a_hook": Idle,
    "test_its_hooks_can_be_called": Misspelt,
    "test_answers_are_of_the_right_type": AnswersYes,
    "test_answers_are_made_of_what_was_given": AddsGroups,
    "test_a_veto_says_why": SaysNothing,
    "test_observers_return_nothing": Decides,
    "test_the_same_question_gets_the_same_answer": NeverTwice,
    "test_what_it_was_asked_before_makes_no_difference": RemembersNodes,
    "test_what_it_is_given_stays_as_it_is": WritesOnNodes,
    "test_annotations_that_it_reads_are_declared": ReadsTeams,
    "test_no_question_is_an_error": NeedsTeams,
    "test_nothing_to_look_at_is_no_error": TakesTheFirst,
    "test_things_that_say_little_are_no_error": NeedsTimes,
    "test_it_answers_in_time": LooksAround,
    "test_its_settings_can_be_written_down": AddsATeam,
}
