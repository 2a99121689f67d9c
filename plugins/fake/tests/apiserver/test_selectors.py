from typing import Any

import pytest
from nodewright_fake.apiserver.selectors import exact_name, field_predicate, label_predicate, selector_text, selects
from nodewright_fake.apiserver.status import StatusError

LABELS = {"app": "web", "tier": "front", "size": "7", "example.com/team": "blue"}


@pytest.mark.parametrize(
    ("selector", "matches"),
    [
        ("app=web", True),
        ("app==web", True),
        ("app=db", False),
        ("app!=db", True),
        ("app!=web", False),
        ("absent!=web", True),
        ("app in (web, db)", True),
        ("app in (db)", False),
        ("app notin (db,cache)", True),
        ("app notin (web)", False),
        ("absent notin (web)", True),
        ("absent in (web)", False),
        ("app", True),
        ("absent", False),
        ("!absent", True),
        ("!app", False),
        ("size>6", True),
        ("size>7", False),
        ("size<8", True),
        ("app>1", False),
        ("app=web,tier in (front,back),!absent", True),
        ("app=web,tier=back", False),
        ("example.com/team=blue", True),
        ("app=", False),
        ("absent=", False),
    ],
)
def test_label_selectors_match_as_kubernetes_matches_them(selector, matches) -> None:
    predicate = label_predicate(selector)

    assert predicate is not None
    assert predicate({"metadata": {"labels": LABELS}}) is matches


def test_an_empty_label_selector_selects_without_looking() -> None:
    assert label_predicate("") is None
    assert label_predicate(" , ") is None


@pytest.mark.parametrize("selector", ["app in web", "=web", "a b", "app in (web", "-x=1"])
def test_a_malformed_label_selector_is_refused_with_the_forms_that_there_are(selector) -> None:
    with pytest.raises(StatusError, match=r"^unable to parse requirement: .* is none of key=value") as refusal:
        label_predicate(selector)

    assert refusal.value.code == 400


POD: dict[str, Any] = {
    "metadata": {"name": "web-0", "namespace": "default"},
    "spec": {"nodeName": "n1", "hostNetwork": True},
    "status": {"phase": "Running"},
}


@pytest.mark.parametrize(
    ("selector", "matches"),
    [
        ("metadata.name=web-0", True),
        ("metadata.name!=web-0", False),
        ("spec.nodeName=n1,status.phase!=Failed", True),
        ("spec.nodeName=n1,status.phase=Failed", False),
        ("spec.nodeName==n2", False),
        ("status.nominatedNodeName=", True),
        ("spec.hostNetwork=true", True),
        ("spec.unschedulable=false", True),
        ("spec.schedulerName!=default-scheduler", True),
    ],
)
def test_field_selectors_follow_dotted_paths(selector, matches) -> None:
    predicate = field_predicate("pods", selector)

    assert predicate is not None
    assert predicate(POD) is matches


def test_the_source_of_an_event_is_its_component() -> None:
    predicate = field_predicate("events", "source=kubelet,involvedObject.name=web-0")
    event = {"metadata": {}, "source": {"component": "kubelet"}, "involvedObject": {"name": "web-0"}}

    assert predicate is not None
    assert predicate(event)


def test_a_field_value_may_carry_an_escaped_comma() -> None:
    predicate = field_predicate("events", r"reason=a\,b")

    assert predicate is not None
    assert predicate({"metadata": {}, "reason": "a,b"})


def test_a_malformed_field_selector_is_refused() -> None:
    with pytest.raises(StatusError, match=r"^invalid selector: 'spec\.nodeName'; can't understand"):
        field_predicate("pods", "spec.nodeName")


def test_a_selector_for_one_name_is_recognised() -> None:
    assert exact_name("metadata.name=web-0") == "web-0"
    assert exact_name("metadata.name!=web-0") is None
    assert exact_name("metadata.name=web-0,spec.nodeName=n1") is None


@pytest.mark.parametrize(
    ("selector", "matches"),
    [
        (None, False),
        ({}, True),
        ({"matchLabels": {"app": "web"}}, True),
        ({"matchLabels": {"app": "db"}}, False),
        ({"matchExpressions": [{"key": "app", "operator": "In", "values": ["web"]}]}, True),
        ({"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["web"]}]}, False),
        ({"matchExpressions": [{"key": "absent", "operator": "DoesNotExist"}]}, True),
        ({"matchLabels": {"app": "web"}, "matchExpressions": [{"key": "absent", "operator": "Exists"}]}, False),
    ],
)
def test_selector_objects_match_labels(selector, matches) -> None:
    assert selects(selector, LABELS) is matches


@pytest.mark.parametrize(
    ("selector", "text"),
    [
        ({"matchLabels": {"b": "2", "a": "1"}}, "a=1,b=2"),
        ({"app": "web"}, "app=web"),
        ("app=web", "app=web"),
        (None, ""),
        (
            {
                "matchExpressions": [
                    {"key": "a", "operator": "In", "values": ["y", "x"]},
                    {"key": "b", "operator": "NotIn", "values": ["z"]},
                    {"key": "c", "operator": "Exists"},
                    {"key": "d", "operator": "DoesNotExist"},
                ]
            },
            "a in (x,y),b notin (z),c,!d",
        ),
    ],
)
def test_selectors_are_written_as_text_for_the_scale(selector, text) -> None:
    assert selector_text(selector) == text
