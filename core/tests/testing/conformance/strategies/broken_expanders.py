"""An expander that keeps all rules, and one for each rule that breaks just that one."""

from dataclasses import replace

from nodewright.api import Expander, PodSet
from nodewright.testing import a_group, a_pod, pods_like

CONFIG_MAP = "frugal"


class Frugal(Expander):
    """Takes what costs least for each pod; plans with it, too."""

    config_map = CONFIG_MAP

    def plan(self, options, context):
        best = self.priced(options)
        if not best:
            return None
        option = min(best, key=lambda option: (cost(option), option.group.id))
        nodes = option.nodes if context.room is None else min(option.nodes, context.room)
        if nodes < option.nodes and option.group.options.zero_or_max_node_scaling:
            return None
        return [replace(option, nodes=nodes, pods=self.held(option, nodes, context))]

    def best(self, options, context):
        avoided = context.config_maps.get(CONFIG_MAP, {}).get("avoid")
        priced = [option for option in self.priced(options) if option.group.id != avoided]
        least = min(map(cost, priced), default=None)
        return [option for option in priced if cost(option) == least] or options

    def priced(self, options):
        return [option for option in options if option.group.hourly_price is not None and option.group.template]

    def held(self, option, nodes, context):
        with context.simulation.fork() as fork:
            names = fork.add_nodes(option.group, nodes)
            placed = [(pods, fork.place(pods, on=names)) for pods in option.pods]
        return tuple(PodSet(pod=pods.pod, keys=tuple(found)) for pods, found in placed if found)


def cost(option):
    return option.group.hourly_price * option.nodes / option.pod_count


class Copies(Frugal):
    def best(self, options, context):
        return [replace(option) for option in super().best(options, context)]


class Backwards(Frugal):
    def best(self, options, context):
        return super().best(options, context)[::-1]


class Picky(Frugal):
    def best(self, options, context):
        chosen = super().best(options, context)
        return chosen if len(chosen) == len(options) else []


class NeedsTwo(Frugal):
    def best(self, options, context):
        first, second, *_ = options
        assert first is not second
        return super().best(options, context)


class Moody(Frugal):
    last = None

    def best(self, options, context):
        asked = [(option.group.id, option.group.hourly_price) for option in options]
        again, self.last = asked == self.last, asked
        return options if again else super().best(options, context)


class Loyal(Frugal):
    favourites = frozenset()

    def best(self, options, context):
        known = [option for option in options if option.group.id in self.favourites]
        chosen = known or super().best(options, context)
        self.favourites = frozenset(option.group.id for option in chosen)
        return chosen


class FirstComeFirstServed(Frugal):
    def best(self, options, context):
        chosen = super().best(options, context)
        return chosen if len(chosen) > 1 else options[:1]


class FirstOfEquals(Frugal):
    def best(self, options, context):
        return super().best(options, context)[:1]


class Sorts(Frugal):
    def best(self, options, context):
        chosen = super().best(list(options), context)
        options.sort(key=lambda option: option.group.id)
        return chosen


class LeavesNodes(Frugal):
    def best(self, options, context):
        context.simulation.add_nodes(a_group("trial"), 1)
        return super().best(options, context)


class NeedsPrices(Frugal):
    def best(self, options, context):
        assert sum(option.group.hourly_price for option in options) >= 0
        return super().best(options, context)


class NeedsAModel(Frugal):
    def best(self, options, context):
        assert {context.pricing[option.group.provider].currency for option in options} == {"USD"}
        return super().best(options, context)


class DividesByPrices(Frugal):
    def best(self, options, context):
        assert all(1 / option.group.hourly_price > 0 for option in options if option.group.hourly_price is not None)
        return super().best(options, context)


class NeedsTemplates(Frugal):
    def best(self, options, context):
        assert all(option.group.template.capacity is not None for option in options)
        return super().best(options, context)


class NeedsZones(Frugal):
    def best(self, options, context):
        templates = [option.group.template for option in options if option.group.template]
        assert all(template.labels["topology.kubernetes.io/zone"] for template in templates)
        return super().best(options, context)


class NeedsALimit(Frugal):
    def best(self, options, context):
        assert context.room >= 0
        return super().best(options, context)


class BelievesConfigMaps(Frugal):
    def best(self, options, context):
        data = context.config_maps.get(CONFIG_MAP)
        assert data is None or data["avoid"]
        return super().best(options, context)


class PlansElsewhere(Frugal):
    def plan(self, options, context):
        made = super().plan(options, context)
        if made is None or context.room is None or context.room < 10:
            return made
        return [*made, replace(made[0], group=a_group("elsewhere"), nodes=1, pods=())]


class PlansBeyondGroups(Frugal):
    def plan(self, options, context):
        made = super().plan(options, context)
        if made is None or context.room is None or context.room < 10 or is_whole(made[0]):
            return made
        return [replace(made[0], nodes=made[0].limit + 1)]


class PlansBeyondTheCluster(Frugal):
    def plan(self, options, context):
        return super().plan(options, replace(context, room=None))


class PlansHalves(Frugal):
    def plan(self, options, context):
        made = super().plan(options, context)
        return [replace(option, nodes=1) if is_whole(option) else option for option in made] if made else made


class PlansForGhosts(Frugal):
    def plan(self, options, context):
        ghost = pods_like(a_pod("ghost", cpu="1m", memory="1Mi"), 1)
        made = super().plan(options, context)
        return made and [replace(made[0], pods=(*made[0].pods, ghost))]


class PlansTwice(Frugal):
    def plan(self, options, context):
        made = super().plan(options, context)
        if not made:
            return made
        again = PodSet(pod=made[0].pods[0].pod, keys=made[0].pods[0].keys[:1])
        return [replace(made[0], pods=(*made[0].pods, again))]


class PlansTooLittle(Frugal):
    def plan(self, options, context):
        made = super().plan(options, context)
        return made if not made or is_whole(made[0]) else [replace(made[0], nodes=1, pods=options[0].pods)]


def is_whole(option):
    return option.group.options.zero_or_max_node_scaling


BROKEN = {
    "test_the_answer_is_made_of_the_options": Copies,
    "test_the_answer_is_in_order": Backwards,
    "test_something_is_chosen": Picky,
    "test_a_single_option_is_no_error": NeedsTwo,
    "test_the_same_question_gets_the_same_answer": Moody,
    "test_what_it_was_asked_before_makes_no_difference": Loyal,
    "test_the_order_of_options_makes_no_difference": FirstComeFirstServed,
    "test_equals_tie_or_take_turns": FirstOfEquals,
    "test_what_it_is_given_stays_as_it_is": Sorts,
    "test_what_is_tried_is_tried_in_a_fork": LeavesNodes,
    "test_unknown_prices_are_no_error": NeedsPrices,
    "test_a_provider_without_prices_is_no_error": NeedsAModel,
    "test_free_nodes_are_no_error": DividesByPrices,
    "test_a_group_without_a_template_is_no_error": NeedsTemplates,
    "test_a_template_that_says_little_is_no_error": NeedsZones,
    "test_a_cluster_without_a_limit_is_no_error": NeedsALimit,
    "test_a_missing_config_map_is_no_error": BelievesConfigMaps,
    "test_a_plan_grows_groups_that_were_offered": PlansElsewhere,
    "test_a_plan_keeps_the_limits_of_groups": PlansBeyondGroups,
    "test_a_plan_keeps_the_limit_of_the_cluster": PlansBeyondTheCluster,
    "test_a_plan_uses_groups_whole_that_can_only_be": PlansHalves,
    "test_a_plan_helps_pods_that_wait": PlansForGhosts,
    "test_a_plan_helps_each_pod_once": PlansTwice,
    "test_a_plan_holds": PlansTooLittle,
}
