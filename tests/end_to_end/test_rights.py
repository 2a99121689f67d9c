"""The rights at the API server that the page for users names are enough, and all that a life needs is on it."""

import re
from pathlib import Path

import yaml

from tests.end_to_end.scenarios import a_group, a_scenario

PAGE = (Path(__file__).parents[2] / "docs/users.md").read_text()
AT_ONCE = "scaleDown: {unneededTime: 30s, delayAfterAdd: 30s}\nlimits: {capacityQuotas: true}"


def granted():
    """What may be done, as group of the API, resource and verb."""
    (role,) = re.findall(r"```yaml\n(apiVersion: rbac.*?)```", PAGE, re.DOTALL)
    return {
        (group, resource, verb)
        for rule in yaml.safe_load(role)["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


def asked(request):
    """What a request asks for, in the same words; None for those beside the resources."""
    target = request.target
    if target is None:
        return None
    return target.group, "/".join(filter(None, (target.plural, target.subresource))), request.verb


def test_shrinking_and_growing_take_no_other_rights_than_the_page_names(begin, caplog):
    life = begin(a_scenario(a_group("pool", max=5, desired=2)), AT_ONCE)
    rights, used = granted(), set()

    def authorize(request):
        used.add(asked(request))
        return None if asked(request) in rights else "not on the page"

    life.world.api_server.authorize = authorize
    life.start_again()
    life.until(lambda: len(life.nodes) == 1)
    life.scale("web", 8)
    life.until(lambda: len(life.pods("Running")) == 8)
    assert "not on the page" not in caplog.text
    needed = {
        ("", "nodes", "get"),
        ("", "nodes", "patch"),
        ("", "pods/eviction", "create"),
        ("", "events", "create"),
        ("policy", "poddisruptionbudgets", "watch"),
        ("batch", "jobs", "watch"),
    }
    assert needed <= used
