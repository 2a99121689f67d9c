"""Alert rules and the dashboard ask for nothing that is not told."""

import re

from tests.deploy.queries import queries
from tests.end_to_end.scenarios import a_group, a_scenario

NAME = re.compile(r"\b(?:cluster_autoscaler|nodewright|process)_\w+")


def test_every_metric_that_is_asked_for_is_told(begin) -> None:
    life = begin(a_scenario(a_group("pool", max=5)))
    life.go_on(30)
    # Metrics with labels that nothing has happened to yet have no sample, but a type.
    told = life.autoscaler.metrics.render().decode()
    families = dict(re.findall(r"^# TYPE (\w+) (\w+)$", told, re.MULTILINE))
    parts = {"histogram": ("_bucket", "_count", "_sum")}
    names = {name + part for name, kind in families.items() for part in parts.get(kind, ("",))}
    assert {name for query in queries() for name in NAME.findall(query)} - names == set()
