import json
from typing import Any

import pytest
from nodewright_fake.apiserver.patch import APPLY, JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, patch_of
from nodewright_fake.apiserver.status import StatusError


def patched(target: Any, kind: str, patch: Any, *, custom: bool = False) -> Any:
    patch_of(kind, json.dumps(patch).encode(), custom=custom)(target)
    return target


@pytest.mark.parametrize(
    ("target", "operations", "result"),
    [
        ({"a": 1}, [{"op": "add", "path": "/b", "value": 2}], {"a": 1, "b": 2}),
        ({"a": [1, 3]}, [{"op": "add", "path": "/a/1", "value": 2}], {"a": [1, 2, 3]}),
        ({"a": [1]}, [{"op": "add", "path": "/a/-", "value": 2}], {"a": [1, 2]}),
        ({"a": [1]}, [{"op": "add", "path": "/a/1", "value": 2}], {"a": [1, 2]}),
        ({"a": 1, "b": 2}, [{"op": "remove", "path": "/a"}], {"b": 2}),
        ({"a": [1, 2]}, [{"op": "remove", "path": "/a/0"}], {"a": [2]}),
        ({"a": {"b": 1}}, [{"op": "replace", "path": "/a/b", "value": {"c": 2}}], {"a": {"b": {"c": 2}}}),
        ({"a": [1, 2, 3]}, [{"op": "replace", "path": "/a/1", "value": 9}], {"a": [1, 9, 3]}),
        ({"a": 1}, [{"op": "move", "from": "/a", "path": "/b"}], {"b": 1}),
        ({"a": {"x": 1}}, [{"op": "copy", "from": "/a", "path": "/b"}], {"a": {"x": 1}, "b": {"x": 1}}),
        ({"a": 1}, [{"op": "test", "path": "/a", "value": 1}, {"op": "remove", "path": "/a"}], {}),
        ({"l": {"a/b~c": 1}}, [{"op": "remove", "path": "/l/a~1b~0c"}], {"l": {}}),
    ],
)
def test_json_patches(target, operations, result) -> None:
    assert patched(target, JSON_PATCH, operations) == result


@pytest.mark.parametrize(
    ("operation", "why"),
    [
        ({"op": "test", "path": "/a", "value": 2}, "testing value /a failed"),
        ({"op": "remove", "path": "/b"}, "there is no 'b'"),
        ({"op": "replace", "path": "/list/5", "value": 1}, "there is no item 5 in a list of 1"),
        ({"op": "add", "path": "/list/2", "value": 1}, "there is no item 2 in a list of 1"),
        ({"op": "shuffle", "path": "/a"}, "unknown operation 'shuffle'"),
        ({"op": "add", "path": "a", "value": 1}, "the path 'a' does not start with a slash"),
    ],
)
def test_a_json_patch_that_does_not_fit_says_which_operation_and_why(operation, why) -> None:
    with pytest.raises(StatusError) as refusal:
        patched({"a": 1, "list": [1]}, JSON_PATCH, [operation])

    assert refusal.value.code == 422
    assert refusal.value.message.endswith(f"{operation!r}: {why}")


@pytest.mark.parametrize(
    ("target", "patch", "result"),
    [
        ({"a": 1}, {"b": 2}, {"a": 1, "b": 2}),
        ({"a": 1}, {"a": None}, {}),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": None, "d": 3}}, {"a": {"c": 2, "d": 3}}),
        ({"a": [1, 2]}, {"a": [3]}, {"a": [3]}),
        ({"a": 1}, {"a": {"b": None, "c": 1}}, {"a": {"c": 1}}),
    ],
)
def test_merge_patches(target, patch, result) -> None:
    assert patched(target, MERGE_PATCH, patch) == result


@pytest.mark.parametrize(
    ("target", "patch", "result"),
    [
        pytest.param(
            {"containers": [{"name": "a", "image": "1"}, {"name": "b", "image": "1"}]},
            {"containers": [{"name": "b", "image": "2"}, {"name": "c", "image": "3"}]},
            {"containers": [{"name": "a", "image": "1"}, {"name": "b", "image": "2"}, {"name": "c", "image": "3"}]},
            id="containers merge by name",
        ),
        pytest.param(
            {"containers": [{"name": "a"}, {"name": "b"}]},
            {"containers": [{"name": "a", "$patch": "delete"}]},
            {"containers": [{"name": "b"}]},
            id="an item is deleted",
        ),
        pytest.param(
            {"containers": [{"name": "a"}, {"name": "b"}]},
            {"containers": [{"$patch": "replace"}, {"name": "c"}]},
            {"containers": [{"name": "c"}]},
            id="a list is replaced",
        ),
        pytest.param(
            {"containers": [{"name": "a", "env": [{"name": "X", "value": "1"}, {"name": "Y", "value": "2"}]}]},
            {"containers": [{"name": "a", "env": [{"name": "X", "value": "3"}]}]},
            {"containers": [{"name": "a", "env": [{"name": "X", "value": "3"}, {"name": "Y", "value": "2"}]}]},
            id="lists within items merge too",
        ),
        pytest.param(
            {"ports": [{"containerPort": 80, "protocol": "TCP"}]},
            {"ports": [{"containerPort": 80, "name": "web"}, {"containerPort": 443}]},
            {"ports": [{"containerPort": 80, "protocol": "TCP", "name": "web"}, {"containerPort": 443}]},
            id="container ports merge by number",
        ),
        pytest.param(
            {"ports": [{"port": 80, "targetPort": 8080}]},
            {"ports": [{"port": 80, "targetPort": 9090}]},
            {"ports": [{"port": 80, "targetPort": 9090}]},
            id="service ports merge by number",
        ),
        pytest.param(
            {"conditions": [{"type": "Ready", "status": "True", "reason": "x"}, {"type": "Other"}]},
            {"conditions": [{"type": "Ready", "status": "False"}]},
            {"conditions": [{"type": "Ready", "status": "False", "reason": "x"}, {"type": "Other"}]},
            id="conditions merge by type",
        ),
        pytest.param(
            {"taints": [{"key": "a", "effect": "NoSchedule"}]},
            {"taints": [{"key": "b", "effect": "NoSchedule"}]},
            {"taints": [{"key": "b", "effect": "NoSchedule"}]},
            id="taints are replaced as a whole",
        ),
        pytest.param(
            {"tolerations": [{"key": "a"}]},
            {"tolerations": [{"key": "b"}]},
            {"tolerations": [{"key": "b"}]},
            id="tolerations are replaced as a whole",
        ),
        pytest.param(
            {"finalizers": ["a", "b"]},
            {"finalizers": ["b", "c"]},
            {"finalizers": ["a", "b", "c"]},
            id="finalizers merge as a set",
        ),
        pytest.param(
            {"finalizers": ["a", "b"]},
            {"$deleteFromPrimitiveList/finalizers": ["a"]},
            {"finalizers": ["b"]},
            id="values are taken out of a set",
        ),
        pytest.param(
            {"containers": [{"name": "a"}]},
            {"$setElementOrder/containers": [{"name": "b"}, {"name": "a"}], "containers": [{"name": "b"}]},
            {"containers": [{"name": "a"}, {"name": "b"}]},
            id="the wished order is left alone",
        ),
        pytest.param(
            {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}},
            {"strategy": {"type": "Recreate", "$retainKeys": ["type"]}},
            {"strategy": {"type": "Recreate"}},
            id="only the named keys are retained",
        ),
        pytest.param(
            {"labels": {"a": "1", "b": "2"}},
            {"labels": {"$patch": "replace", "c": "3"}},
            {"labels": {"c": "3"}},
            id="an object is replaced",
        ),
        pytest.param({"a": {"b": 1}}, {"a": {"$patch": "delete"}}, {}, id="an object is deleted"),
        pytest.param({"a": 1, "args": ["x"]}, {"a": None, "args": ["y"]}, {"args": ["y"]}, id="plain values"),
    ],
)
@pytest.mark.parametrize("kind", [STRATEGIC_PATCH, APPLY])
def test_strategic_merge_patches(target, patch, result, kind) -> None:
    assert patched(json.loads(json.dumps(target)), kind, patch) == result


def test_an_item_without_its_merge_key_is_refused() -> None:
    with pytest.raises(StatusError, match="does not contain declared merge key: name"):
        patched({"containers": [{"name": "a"}]}, STRATEGIC_PATCH, {"containers": [{"image": "1"}]})


def test_custom_resources_know_no_strategic_merge() -> None:
    with pytest.raises(StatusError) as refusal:
        patched({}, STRATEGIC_PATCH, {}, custom=True)

    assert refusal.value.code == 415


def test_what_is_applied_to_a_custom_resource_replaces_lists() -> None:
    assert patched({"containers": [{"name": "a"}]}, APPLY, {"containers": [{"name": "b"}]}, custom=True) == {
        "containers": [{"name": "b"}]
    }


def test_applied_configuration_may_be_yaml() -> None:
    target: dict[str, Any] = {}
    patch_of(APPLY, b"data:\n  since: 2030-01-01\n", custom=False)(target)

    assert target == {"data": {"since": "2030-01-01"}}


@pytest.mark.parametrize(("kind", "body"), [(JSON_PATCH, b"{}"), (MERGE_PATCH, b"[]"), (MERGE_PATCH, b"{")])
def test_a_patch_that_is_none_is_refused(kind, body) -> None:
    with pytest.raises(StatusError) as refusal:
        patch_of(kind, body, custom=False)

    assert refusal.value.code == 400
