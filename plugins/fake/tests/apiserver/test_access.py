from collections.abc import Iterator

import pytest
import yaml
from kubernetes import client, config
from nodewright_fake.apiserver.request import Request
from nodewright_fake.apiserver.server import ApiServer
from nodewright_fake.apiserver.store import Store

from .builders import deployment, pod
from .raw import Raw

TOKENS = {"s3cret": "system:serviceaccount:kube-system:nodewright"}
USER = TOKENS["s3cret"]
WHO = f'User "{USER}"'
HERE = 'in the namespace "default"'


@pytest.fixture
def server(store: Store) -> Iterator[ApiServer]:
    with ApiServer(store, tokens=TOKENS) as server:
        yield server


@pytest.fixture
def raw(server: ApiServer) -> Iterator[Raw]:
    raw = Raw(server.url, Authorization="Bearer s3cret")
    yield raw
    raw.close()


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic s3cret"}])
def test_without_a_known_token_nobody_gets_in(server, headers) -> None:
    stranger = Raw(server.url, **headers)
    answer = stranger.get("/api/v1/pods")
    stranger.close()

    assert (answer.status, answer.body["reason"], answer.body["message"]) == (401, "Unauthorized", "Unauthorized")


def test_the_official_client_sends_the_token_of_the_kubeconfig(server) -> None:
    with config.new_client_from_config_dict(yaml.safe_load(server.kubeconfig("s3cret"))) as api:
        assert client.CoreV1Api(api).list_node().items == []
        api.rest_client.pool_manager.clear()


@pytest.mark.parametrize(
    ("method", "path", "message"),
    [
        (
            "GET",
            "/api/v1/pods",
            f'pods is forbidden: {WHO} cannot list resource "pods" in API group "" at the cluster scope',
        ),
        (
            "GET",
            "/api/v1/namespaces/default/pods?watch=1",
            f'pods is forbidden: {WHO} cannot watch resource "pods" in API group "" {HERE}',
        ),
        (
            "DELETE",
            "/apis/batch/v1/namespaces/default/jobs/web",
            f'jobs.batch "web" is forbidden: {WHO} cannot delete resource "jobs" in API group "batch" {HERE}',
        ),
        (
            "POST",
            "/api/v1/namespaces/default/pods/web-0/eviction",
            f'pods "web-0" is forbidden: {WHO} cannot create resource "pods/eviction" in API group "" {HERE}',
        ),
        ("GET", "/metrics", f'forbidden: {WHO} cannot get path "/metrics"'),
    ],
)
def test_a_refusal_is_worded_as_kubernetes_words_it(server, raw, method, path, message) -> None:
    server.authorize = lambda request: ""

    answer = raw.send(method, path)

    assert (answer.status, answer.body["reason"]) == (403, "Forbidden")
    assert answer.body["message"] == message


def test_a_reason_for_the_refusal_is_told(server, raw) -> None:
    server.authorize = lambda request: "the moon is full"

    assert raw.get("/api/v1/nodes").body["message"].endswith("at the cluster scope: the moon is full")


def test_one_right_can_be_taken_away(store, server, raw) -> None:
    store.create("pods", pod())

    def no_evictions(request: Request) -> str | None:
        return "" if request.target and request.target.subresource == "eviction" else None

    server.authorize = no_evictions

    assert raw.get("/api/v1/pods").status == 200
    assert raw.post("/api/v1/namespaces/default/pods/web-0/eviction", {}).status == 403
    assert store.find("pods", "web-0", "default") is not None


def test_the_hook_sees_user_verb_and_resource(store, server, raw) -> None:
    store.create("deployments.apps", deployment())
    seen: list[tuple[str, str, str]] = []

    def note(request: Request) -> None:
        assert request.resource is not None
        seen.append((request.user, request.verb, request.resource.qualified_name))

    server.authorize = note
    raw.patch("/apis/apps/v1/namespaces/default/deployments/web", {})

    assert seen == [(USER, "patch", "deployments.apps")]


def test_clients_can_ask_for_their_rights(server, raw) -> None:
    server.authorize = lambda request: "hands off" if request.verb == "delete" else None

    def review(verb: str) -> object:
        spec = {"resourceAttributes": {"verb": verb, "resource": "nodes"}}
        return raw.post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {"spec": spec}).body["status"]

    assert review("list") == {"allowed": True}
    assert review("delete") == {"allowed": False, "denied": True, "reason": "hands off"}


def test_clients_can_ask_who_they_are(raw) -> None:
    review = raw.post("/apis/authentication.k8s.io/v1/selfsubjectreviews", {}).body

    assert review["kind"] == "SelfSubjectReview"
    assert review["status"]["userInfo"]["username"] == USER


def test_all_rights_at_once_are_listed_as_far_as_they_are_known(server, raw) -> None:
    path = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"
    assert raw.post(path, {}).body["status"]["incomplete"] is False

    server.authorize = lambda request: None
    assert raw.post(path, {}).body["status"]["incomplete"] is True
