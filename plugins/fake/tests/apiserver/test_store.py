from typing import Any

import pytest
from nodewright_fake.apiserver.status import StatusError
from nodewright_fake.apiserver.store import Change, Store

from .builders import config_map, deployment, node, owned, pod


def versions(store: Store) -> list[int]:
    seen: list[int] = []
    store.subscribe(lambda change: seen.append(change.version))
    return seen


def test_a_new_object_gets_its_identity_from_the_store(store) -> None:
    created = store.create("pods", pod())

    assert created["metadata"]["uid"]
    assert created["metadata"]["creationTimestamp"] == "2030-01-01T00:00:00Z"
    assert created["metadata"]["resourceVersion"] == str(store.version)
    assert store.get("pods", "web-0", "default") is created


def test_a_generated_name_is_the_prefix_and_something_that_is_new(store) -> None:
    made = {"metadata": {"generateName": "web-", "namespace": "default"}}

    names = {store.create("configmaps", made)["metadata"]["name"] for _ in range(20)}

    assert len(names) == 20
    assert all(name.startswith("web-") and len(name) == 9 for name in names)


def test_two_stores_with_the_same_history_are_equal(clock) -> None:
    first, second = (Store(clock).create("nodes", node()) for _ in range(2))

    assert first == second


def test_lists_are_in_order_of_namespace_and_name(store) -> None:
    for namespace, name in (("b", "x"), ("a", "z"), ("b", "a"), ("a", "c")):
        store.create("pods", pod(name, namespace))
    store.delete("pods", "z", "a")

    assert [one["metadata"]["name"] for one in store.list("pods")] == ["c", "a", "x"]
    assert [one["metadata"]["name"] for one in store.list("pods", "b")] == ["a", "x"]
    assert store.list("pods", "nowhere") == []


def test_a_taken_name_is_refused(store) -> None:
    store.create("deployments.apps", deployment())

    with pytest.raises(StatusError, match=r'^deployments\.apps "web" already exists$') as refusal:
        store.create("deployments.apps", deployment())

    assert (refusal.value.code, refusal.value.reason) == (409, "AlreadyExists")
    assert refusal.value.details == {"name": "web", "group": "apps", "kind": "deployments"}


def test_what_the_store_keeps_shares_nothing_with_what_it_was_given(store) -> None:
    given = config_map(key="old")
    store.create("configmaps", given)
    given["data"]["key"] = "new"

    assert store.get("configmaps", "settings", "default")["data"] == {"key": "old"}


def test_an_update_of_an_old_version_conflicts(store) -> None:
    old = store.create("configmaps", config_map(key="1"))
    store.modify("configmaps", "settings", "default", lambda draft: draft["data"].update(key="2"))

    with pytest.raises(StatusError, match=r'^Operation cannot be fulfilled on configmaps "settings": the object has'):
        store.update("configmaps", {**old, "data": {"key": "3"}})


def test_an_update_that_changes_nothing_is_no_change(store) -> None:
    created = store.create("configmaps", config_map(key="1"))
    seen = versions(store)

    assert store.update("configmaps", config_map(key="1")) is created
    assert seen == []


def test_an_update_cannot_change_what_the_store_decides(store) -> None:
    created = store.create("deployments.apps", deployment())
    forged = {"uid": "other", "creationTimestamp": "1999-01-01T00:00:00Z", "deletionTimestamp": "x", "generation": 99}

    def forge(draft: dict[str, Any]) -> None:
        draft["metadata"].update(forged, labels={"a": "b"})

    changed = store.modify("deployments.apps", "web", "default", forge)["metadata"]

    assert changed["labels"] == {"a": "b"}
    assert changed["uid"] == created["metadata"]["uid"]
    assert changed["creationTimestamp"] == created["metadata"]["creationTimestamp"]
    assert changed["generation"] == 1
    assert "deletionTimestamp" not in changed


def test_the_generation_counts_changes_of_the_specification_only(store) -> None:
    store.create("deployments.apps", deployment())

    def generation_after(change: Any) -> int:
        return store.modify("deployments.apps", "web", "default", change)["metadata"]["generation"]

    assert generation_after(lambda draft: draft["spec"].update(replicas=3)) == 2
    assert generation_after(lambda draft: draft.update(status={"replicas": 3})) == 2
    assert generation_after(lambda draft: draft["metadata"].update(labels={"a": "b"})) == 2
    assert generation_after(lambda draft: draft["spec"].update(paused=True)) == 3


def test_nodes_have_no_generation(store) -> None:
    assert "generation" not in store.create("nodes", node())["metadata"]


def test_a_running_pod_is_only_marked_until_its_kubelet_has_stopped_it(store, clock) -> None:
    store.create("pods", pod(node="n1", phase="Running"))

    marked = store.delete("pods", "web-0", "default", grace_seconds=20)["metadata"]
    assert marked["deletionTimestamp"] == "2030-01-01T00:00:20Z"
    assert marked["deletionGracePeriodSeconds"] == 20
    assert store.find("pods", "web-0", "default") is not None

    store.delete("pods", "web-0", "default", grace_seconds=0)
    assert store.find("pods", "web-0", "default") is None


@pytest.mark.parametrize(("node_name", "phase"), [("", "Pending"), ("n1", "Succeeded"), ("n1", "Failed")])
def test_a_pod_that_does_not_run_goes_at_once(store, node_name, phase) -> None:
    store.create("pods", pod(node=node_name, phase=phase))

    store.delete("pods", "web-0", "default")

    assert store.find("pods", "web-0", "default") is None


def test_a_grace_period_can_be_shortened_but_not_prolonged(store) -> None:
    store.create("pods", pod(node="n1", phase="Running"))

    def grace_after(seconds: int) -> int:
        return store.delete("pods", "web-0", "default", grace_seconds=seconds)["metadata"]["deletionGracePeriodSeconds"]

    assert [grace_after(20), grace_after(60), grace_after(5)] == [20, 20, 5]


def test_a_finalizer_holds_a_deleted_object_until_it_is_removed(store) -> None:
    held = config_map()
    held["metadata"]["finalizers"] = ["example/guard"]
    store.create("configmaps", held)
    seen: list[Change] = []
    store.subscribe(seen.append)

    store.delete("configmaps", "settings", "default")
    assert "deletionTimestamp" in store.get("configmaps", "settings", "default")["metadata"]

    store.modify("configmaps", "settings", "default", lambda draft: draft["metadata"].update(finalizers=[]))
    assert store.find("configmaps", "settings", "default") is None
    assert [change.type for change in seen] == ["MODIFIED", "DELETED"]


def test_subscribers_see_every_change_in_order_until_they_leave(store) -> None:
    seen: list[tuple[str, str | None]] = []

    def note(change: Change) -> None:
        seen.append((change.type, (change.before or {}).get("data", {}).get("key")))

    leave = store.subscribe(note)
    store.create("configmaps", config_map(key="1"))
    store.modify("configmaps", "settings", "default", lambda draft: draft["data"].update(key="2"))
    store.delete("configmaps", "settings", "default")
    leave()
    store.create("configmaps", config_map(key="3"))

    assert seen == [("ADDED", None), ("MODIFIED", "1"), ("DELETED", "2")]


def test_a_deletion_has_a_version_of_its_own(store) -> None:
    created = store.create("configmaps", config_map())
    deleted = store.delete("configmaps", "settings", "default")

    assert int(deleted["metadata"]["resourceVersion"]) == int(created["metadata"]["resourceVersion"]) + 1


def test_a_dry_run_leaves_no_trace(store) -> None:
    store.create("configmaps", config_map(key="1"))
    seen, version = versions(store), store.version

    assert store.create("configmaps", config_map("other"), dry_run=True)["metadata"]["uid"]
    assert store.update("configmaps", config_map(key="2"), dry_run=True)["data"] == {"key": "2"}
    store.delete("configmaps", "settings", "default", dry_run=True)

    assert seen == []
    assert store.version == version
    assert store.get("configmaps", "settings", "default")["data"] == {"key": "1"}


def test_dependents_are_found_by_their_owner(store) -> None:
    owner = store.create("deployments.apps", deployment())
    store.create("pods", owned(pod(), "Deployment", "web", owner["metadata"]["uid"]))
    store.create("pods", pod("stranger"))

    found = store.dependents(owner["metadata"]["uid"])

    assert [(resource, one["metadata"]["name"]) for resource, one in found] == [("pods", "web-0")]
