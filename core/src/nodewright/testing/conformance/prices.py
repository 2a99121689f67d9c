"""The conformance suite of price models."""

import math
import re
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from itertools import pairwise

import pytest
from msgspec.structs import replace as changed

from nodewright.api import NodeTemplate, Pod, PricingModel
from nodewright.objects import PodSpec
from nodewright.plugins.results import instance_of, optional
from nodewright.plugins.results import price as price_of
from nodewright.testing.builders import a_pod, a_template
from nodewright.testing.clock import EPOCH
from nodewright.testing.conformance.strategy import answered, left_alone
from nodewright.testing.conformance.suite import Suite

_HOUR = timedelta(hours=1)
_TOLERANCE = 1e-9


class PricingConformance(Suite):
    """All that the core relies on in a `PricingModel`. A subclass overrides ``model`` and ``template``."""

    @pytest.fixture
    def model(self) -> PricingModel:
        """The model under test, which knows its prices."""
        raise NotImplementedError("override the fixture `model`: it returns a model that has read its prices")

    @pytest.fixture
    def template(self) -> NodeTemplate:
        """The template of a node whose price the model knows."""
        raise NotImplementedError("override the fixture `template`: it returns that of a node with a known price")

    @pytest.fixture
    def now(self) -> datetime:
        """A time of which the model knows prices."""
        return EPOCH

    def test_a_known_node_has_a_price(self, model: PricingModel, template: NodeTemplate, now: datetime) -> None:
        """The price of a node of a known kind is a number, not below zero."""
        price = model.node_price(template, now, now + _HOUR)
        assert price is not None, "the price of a node like the fixture `template` is unknown"
        _assert_is_price(price, "a known node")

    def test_a_usual_pod_has_a_price(self, model: PricingModel, now: datetime) -> None:
        """The price of a pod of usual size is a number, not below zero."""
        price = model.pod_price(a_pod(cpu="500m", memory="1Gi"), now, now + _HOUR)
        assert price is not None, "the price of a pod of half a CPU and 1 GiB is unknown"
        _assert_is_price(price, "a pod of half a CPU and 1 GiB")

    def test_an_unknown_node_has_no_price_that_is_made_up(self, model: PricingModel, now: datetime) -> None:
        """The price of a node of an unknown type is None, or goes by what the node has."""
        small, large = (
            model.node_price(
                a_template(cpu=cpu, memory=memory, instance_type="type-from-the-moon", zone="moon-1"), now, now + _HOUR
            )
            for cpu, memory in (("2", "8Gi"), ("64", "256Gi"))
        )
        _assert_is_price(small, "an unknown node")
        _assert_is_price(large, "an unknown, large node")
        by_size = small is not None and large is not None and 0 < small < large
        assert by_size or (small is None and large is None), (
            f"a node of an instance type that does not exist costs {small}, one of 32 times its size {large}: "
            "an unknown price is None"
        )

    def test_a_node_without_labels_is_no_error(self, model: PricingModel, now: datetime) -> None:
        """A template may have no labels and no resources; its price is None, or known from elsewhere."""
        price = model.node_price(NodeTemplate(capacity={}, allocatable={}), now, now + _HOUR)
        _assert_is_price(price, "a node that is not described at all")

    def test_a_pod_that_says_little_is_no_error(self, model: PricingModel, now: datetime) -> None:
        """A pod may have no containers, or none that ask for anything."""
        for pod in (changed(a_pod("bare"), spec=PodSpec()), a_pod("idle", cpu="0", memory="0")):
            _assert_is_price(model.pod_price(pod, now, now + _HOUR), "a pod without requests")

    def test_a_pod_that_fits_no_machine_is_no_error(self, model: PricingModel, now: datetime) -> None:
        """A pod may ask for more than any machine has, or for what no machine has."""
        for pod in (a_pod("huge", cpu="100000", memory="900Ti"), a_pod("odd", requests={"moon.example/dust": "3"})):
            _assert_is_price(model.pod_price(pod, now, now + _HOUR), f"pod {pod.metadata.name}")

    def test_prices_of_nodes_add_up_over_time(self, model: PricingModel, template: NodeTemplate, now: datetime) -> None:
        """Two half hours of a node cost what an hour does, and no time costs nothing."""
        half = now + _HOUR / 2
        parts = _known(model.node_price(template, now, half)) + _known(model.node_price(template, half, now + _HOUR))
        whole = _known(model.node_price(template, now, now + _HOUR))
        assert _same(parts, whole), f"a node costs {whole} for an hour and {parts} for its two halves"
        assert _same(_known(model.node_price(template, now, now)), 0), "a node costs something for no time at all"

    def test_prices_of_pods_add_up_over_time(self, model: PricingModel, now: datetime) -> None:
        """Two half hours of a pod cost what an hour does, and no time costs nothing."""
        pod, half = a_pod(), now + _HOUR / 2
        parts = _known(model.pod_price(pod, now, half)) + _known(model.pod_price(pod, half, now + _HOUR))
        whole = _known(model.pod_price(pod, now, now + _HOUR))
        assert _same(parts, whole), f"a pod costs {whole} for an hour and {parts} for its two halves"
        assert _same(_known(model.pod_price(pod, now, now)), 0), "a pod costs something for no time at all"

    def test_a_larger_pod_is_not_cheaper(self, model: PricingModel, now: datetime) -> None:
        """One pod that asks for as much as another of all, and for more of something, costs as much or more."""
        pods = [
            a_pod(cpu=cpu, memory=memory) for cpu, memory in (("100m", "1Gi"), ("1", "1Gi"), ("1", "3Gi"), ("2", "4Gi"))
        ]
        prices = [_known(model.pod_price(pod, now, now + _HOUR)) for pod in pods]
        for smaller, larger in pairwise(prices):
            assert smaller <= larger * (1 + _TOLERANCE), f"larger and larger pods cost {prices}"

    def test_the_name_of_a_node_has_no_price(self, model: PricingModel, template: NodeTemplate, now: datetime) -> None:
        """What is a node's own (its host name) does not count: nodes of one group cost the same."""
        named = replace(template, labels={**template.labels, "kubernetes.io/hostname": "ip-10-0-0-7"})
        plain, other = (_known(model.node_price(each, now, now + _HOUR)) for each in (template, named))
        assert _same(plain, other), f"a node costs {plain}, and {other} if its host name is known"

    def test_time_zones_make_no_difference(self, model: PricingModel, template: NodeTemplate, now: datetime) -> None:
        """A time is a moment, whatever clock shows it."""
        there = now.astimezone(timezone(timedelta(hours=5, minutes=30)))
        here, elsewhere = (_known(model.node_price(template, at, now + _HOUR)) for at in (now, there))
        assert _same(here, elsewhere), f"a node costs {here}, and {elsewhere} if the time is given in another time zone"

    def test_the_currency_is_a_code(self, model: PricingModel) -> None:
        """`currency` is three capital letters, as in ISO 4217."""
        currency = answered("currency", instance_of(str), model.currency)
        assert re.fullmatch(r"[A-Z]{3}", currency), f"currency is {currency!r}: write it as USD or EUR"

    def test_the_same_question_gets_the_same_answer(
        self, model: PricingModel, template: NodeTemplate, now: datetime
    ) -> None:
        """Until the next refresh, prices do not change."""
        first, again = (_told(model, template, now) for _ in range(2))
        assert first == again, f"nodes and pods cost {first}, and {again} when asked again"

    def test_what_it_is_given_stays_as_it_is(self, model: PricingModel, template: NodeTemplate, now: datetime) -> None:
        """Neither template nor pod is changed."""
        pod = a_pod()
        with left_alone({"the template": template, "the pod": pod}):
            model.node_price(template, now, now + _HOUR)
            model.pod_price(pod, now, now + _HOUR)


def _assert_is_price(price: object, what: str) -> None:
    number = answered(f"for {what} it", optional(price_of), price)
    assert number is None or number >= 0, f"the price of {what} is {number}, below zero"


def _known(price: float | None) -> float:
    """Return *price*; skips the test if it is unknown, which is for other tests to report."""
    number = answered("it", optional(price_of), price)
    if number is None:
        pytest.skip("the price is unknown")
    return number


def _same(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=1e-6, abs_tol=_TOLERANCE)


def _told(model: PricingModel, template: NodeTemplate, now: datetime) -> tuple[float | None, float | None]:
    pod: Pod = a_pod()
    return model.node_price(template, now, now + _HOUR), model.pod_price(pod, now, now + _HOUR)
