"""A price model that keeps all rules, and one for each rule that breaks just that one."""

from datetime import UTC
from math import ceil, inf

from nodewright.api import PricingModel

TYPE = "node.kubernetes.io/instance-type"
HOURLY = {"m5.large": 0.1}


def hours(start, end):
    return (end - start).total_seconds() / 3600


class PriceList(PricingModel):
    """Nodes by instance type, pods by cpu and memory."""

    def node_price(self, template, start, end):
        price = HOURLY.get(template.labels.get(TYPE, ""))
        return None if price is None else price * hours(start, end)

    def pod_price(self, pod, start, end):
        shares = [pod.requests.get("cpu", 0) / 2000, pod.requests.get("memory", 0) / (8 << 30)]
        return max(shares) * 0.1 * hours(start, end)


class KnowsNoNode(PriceList):
    def node_price(self, template, start, end):
        return None


class KnowsNoPod(PriceList):
    def pod_price(self, pod, start, end):
        return None


class MakesUp(PriceList):
    def node_price(self, template, start, end):
        price = super().node_price(template, start, end)
        return 0.0 if price is None else price


class NeedsLabels(PriceList):
    def node_price(self, template, start, end):
        assert template.labels[TYPE]
        return super().node_price(template, start, end)


class NeedsContainers(PriceList):
    def pod_price(self, pod, start, end):
        assert pod.spec.containers[0].resources is not None
        return super().pod_price(pod, start, end)


class Endless(PriceList):
    def pod_price(self, pod, start, end):
        return inf if pod.requests.get("cpu", 0) > 1_000_000 else super().pod_price(pod, start, end)


class NodesByStartedHour(PriceList):
    def node_price(self, template, start, end):
        price = HOURLY.get(template.labels.get(TYPE, ""))
        return None if price is None else price * ceil(hours(start, end))


class PodsByStartedHour(PriceList):
    def pod_price(self, pod, start, end):
        return pod.requests.get("cpu", 0) / 20_000 * ceil(hours(start, end))


class Discounts(PriceList):
    def pod_price(self, pod, start, end):
        price = super().pod_price(pod, start, end)
        return price / 9 if pod.requests.get("cpu", 0) >= 1000 else price


class GoesByNames(PriceList):
    def node_price(self, template, start, end):
        price = super().node_price(template, start, end)
        return 2 * price if price is not None and "kubernetes.io/hostname" in template.labels else price


class ForgetsTimeZones(PriceList):
    def node_price(self, template, start, end):
        return super().node_price(template, start.replace(tzinfo=UTC), end.replace(tzinfo=UTC))


class SpellsItOut(PriceList):
    currency = "dollars"


class Climbs(PriceList):
    last = None

    def node_price(self, template, start, end):
        asked = repr((template, start, end))
        again, self.last = asked == self.last, asked
        price = super().node_price(template, start, end)
        return price * 1.1 if again and price is not None else price


class Labels(PriceList):
    def node_price(self, template, start, end):
        price = super().node_price(template, start, end)
        if template.labels:
            # Round what would refuse it.
            dict.__setitem__(template.labels, "price", str(price))
        return price


BROKEN = {
    "test_a_known_node_has_a_price": KnowsNoNode,
    "test_a_usual_pod_has_a_price": KnowsNoPod,
    "test_an_unknown_node_has_no_price_that_is_made_up": MakesUp,
    "test_a_node_without_labels_is_no_error": NeedsLabels,
    "test_a_pod_that_says_little_is_no_error": NeedsContainers,
    "test_a_pod_that_fits_no_machine_is_no_error": Endless,
    "test_prices_of_nodes_add_up_over_time": NodesByStartedHour,
    "test_prices_of_pods_add_up_over_time": PodsByStartedHour,
    "test_a_larger_pod_is_not_cheaper": Discounts,
    "test_the_name_of_a_node_has_no_price": GoesByNames,
    "test_time_zones_make_no_difference": ForgetsTimeZones,
    "test_the_currency_is_a_code": SpellsItOut,
    "test_the_same_question_gets_the_same_answer": Climbs,
    "test_what_it_is_given_stays_as_it_is": Labels,
}
