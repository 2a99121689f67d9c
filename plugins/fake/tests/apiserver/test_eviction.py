from typing import Any

import pytest
from kubernetes import client
from nodewright_fake.apiserver.store import Store

from .builders import budget, pod, ready_pod
from .raw import Answer, Raw

BUDGETS = "poddisruptionbudgets.policy"


def evict(raw: Raw, name: str = "web-0", **more: Any) -> Answer:
    body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name, "namespace": "default"}, **more}
    return raw.post(f"/api/v1/namespaces/default/pods/{name}/eviction", body)


def is_going(store: Store, name: str = "web-0") -> bool:
    found = store.find("pods", name, "default")
    return found is None or "deletionTimestamp" in found["metadata"]


def test_a_pod_without_budget_is_deleted_gracefully(store, core) -> None:
    store.create("pods", ready_pod())

    eviction = client.V1Eviction(
        metadata=client.V1ObjectMeta(name="web-0", namespace="default"),
        delete_options=client.V1DeleteOptions(grace_period_seconds=9),
    )
    core.create_namespaced_pod_eviction("web-0", "default", eviction)

    metadata = store.get("pods", "web-0", "default")["metadata"]
    assert metadata["deletionGracePeriodSeconds"] == 9


def test_an_eviction_within_the_budget_is_charged_to_it(store, raw) -> None:
    store.create("pods", ready_pod())
    store.create(BUDGETS, budget(allowed=2))

    answer = evict(raw)

    assert (answer.status, answer.body["status"]) == (201, "Success")
    assert is_going(store)
    status = store.get(BUDGETS, "web", "default")["status"]
    assert status["disruptionsAllowed"] == 1
    assert status["disruptedPods"] == {"web-0": "2030-01-01T00:00:00Z"}


def test_an_eviction_beyond_the_budget_is_refused_with_the_cause(store, raw) -> None:
    store.create("pods", ready_pod())
    store.create(BUDGETS, budget(allowed=0, needs=3, has=3))
    version = store.version

    answer = evict(raw)

    assert answer.status == 429
    assert answer.body["reason"] == "TooManyRequests"
    assert answer.body["message"] == "Cannot evict pod as it would violate the pod's disruption budget."
    assert answer.body["details"]["causes"] == [
        {
            "reason": "DisruptionBudget",
            "message": "The disruption budget web needs 3 healthy pods and has 3 currently",
        }
    ]
    assert "Retry-After" not in answer.headers
    assert store.version == version


def test_a_budget_is_never_overdrawn(store, raw) -> None:
    for number in range(3):
        store.create("pods", ready_pod(f"web-{number}"))
    store.create(BUDGETS, budget(allowed=2))

    assert [evict(raw, f"web-{number}").status for number in range(3)] == [201, 201, 429]
    assert not is_going(store, "web-2")


def test_a_pod_of_two_budgets_cannot_be_evicted(store, raw) -> None:
    store.create("pods", ready_pod())
    store.create(BUDGETS, budget("one", allowed=5))
    store.create(BUDGETS, budget("two", allowed=5))

    answer = evict(raw)

    assert (answer.status, answer.body["message"]) == (
        500,
        "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
    )
    assert not is_going(store)


@pytest.mark.parametrize("phase", ["Pending", "Succeeded", "Failed"])
def test_a_pod_that_serves_nobody_needs_no_budget(store, raw, phase) -> None:
    store.create("pods", pod(node="n1", phase=phase))
    store.create(BUDGETS, budget(allowed=0))

    assert evict(raw).status == 201
    assert store.get(BUDGETS, "web", "default")["status"]["disruptionsAllowed"] == 0


def test_a_pod_that_goes_anyway_is_not_charged_twice(store, raw) -> None:
    store.create("pods", ready_pod())
    store.create(BUDGETS, budget(allowed=1))

    assert [evict(raw).status, evict(raw).status] == [201, 201]
    assert store.get(BUDGETS, "web", "default")["status"]["disruptionsAllowed"] == 0


@pytest.mark.parametrize(
    ("made", "status"),
    [
        (budget(allowed=0, needs=2, has=2), 201),
        (budget(allowed=0, needs=2, has=1), 429),
        (budget(allowed=0, needs=0, has=0), 429),
        (budget(allowed=0, needs=2, has=1, unhealthyPodEvictionPolicy="AlwaysAllow"), 201),
    ],
    ids=["healthy enough without it", "not healthy enough", "nothing desired", "always allowed"],
)
def test_an_unready_pod_may_go_where_it_is_not_missed(store, raw, made, status) -> None:
    store.create("pods", pod(node="n1", phase="Running"))
    store.create(BUDGETS, made)

    assert evict(raw).status == status
    assert store.get(BUDGETS, "web", "default")["status"]["disruptionsAllowed"] == 0


def test_a_budget_that_its_controller_has_not_seen_yet_says_come_again(store, raw) -> None:
    store.create("pods", ready_pod())
    store.create(BUDGETS, budget(allowed=1))
    store.modify(BUDGETS, "web", "default", lambda draft: draft["spec"].update(minAvailable=1))

    answer = evict(raw)

    assert (answer.status, answer.headers["Retry-After"]) == (429, "10")
    assert answer.body["details"]["causes"][0]["message"] == (
        "The disruption budget web is still being processed by the server."
    )


def test_budgets_of_other_pods_and_namespaces_do_not_count(store, raw) -> None:
    store.create("pods", ready_pod())
    other = budget("other", allowed=0)
    other["spec"]["selector"] = {"matchLabels": {"app": "db"}}
    store.create(BUDGETS, other)
    elsewhere = budget(allowed=0)
    elsewhere["metadata"]["namespace"] = "kube-system"
    store.create(BUDGETS, elsewhere)

    assert evict(raw).status == 201


@pytest.mark.parametrize(("selector", "status"), [({}, 429), (None, 201)])
def test_an_empty_selector_covers_all_pods_and_a_missing_one_none(store, raw, selector, status) -> None:
    store.create("pods", ready_pod())
    made = budget(allowed=0)
    made["spec"]["selector"] = selector
    store.create(BUDGETS, made)

    assert evict(raw).status == status


def test_a_dry_run_asks_the_budget_but_charges_nothing(store, raw) -> None:
    store.create("pods", ready_pod())
    store.create(BUDGETS, budget(allowed=1))

    for _ in range(2):
        assert evict(raw, deleteOptions={"dryRun": ["All"]}).status == 201
    assert not is_going(store)

    store.modify(BUDGETS, "web", "default", lambda draft: draft["status"].update(disruptionsAllowed=0))
    assert evict(raw, deleteOptions={"dryRun": ["All"]}).status == 429


def test_a_precondition_that_fails_costs_the_budget_nothing(store, raw) -> None:
    store.create("pods", ready_pod())
    store.create(BUDGETS, budget(allowed=1))

    assert evict(raw, deleteOptions={"preconditions": {"uid": "other"}}).status == 409
    assert store.get(BUDGETS, "web", "default")["status"]["disruptionsAllowed"] == 1


def test_the_last_disruption_turns_the_condition(store, raw) -> None:
    made = budget(allowed=1)
    made["status"]["conditions"] = [{"type": "DisruptionAllowed", "status": "True", "reason": "SufficientPods"}]
    store.create("pods", ready_pod())
    store.create(BUDGETS, made)

    evict(raw)

    condition = store.get(BUDGETS, "web", "default")["status"]["conditions"][0]
    assert (condition["status"], condition["reason"]) == ("False", "InsufficientPods")


@pytest.mark.parametrize("version", ["policy/v1", "policy/v1beta1"])
def test_old_clients_evict_with_the_beta_version(store, raw, version) -> None:
    store.create("pods", ready_pod())

    assert evict(raw, apiVersion=version).status == 201


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"apiVersion": "v1"}, "the body is no eviction: expected kind Eviction of policy/v1 or policy/v1beta1"),
        ({"kind": "Pod"}, "the body is no eviction: expected kind Eviction of policy/v1 or policy/v1beta1"),
        ({"metadata": {"name": "other"}}, "name in URL does not match name in Eviction object"),
    ],
)
def test_what_is_no_eviction_of_this_pod_is_refused(store, raw, wrong, message) -> None:
    store.create("pods", ready_pod())

    answer = evict(raw, **wrong)

    assert (answer.status, answer.body["message"]) == (400, message)


def test_a_pod_that_is_not_there_cannot_be_evicted(raw) -> None:
    answer = evict(raw, "gone")

    assert (answer.status, answer.body["message"]) == (404, 'pods "gone" not found')
