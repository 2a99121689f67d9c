"""Where tokens come from, and what is said if none comes."""

import json
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from nodewright.api import AccessDeniedError, CloudUnavailableError, ConfigurationError

from .conftest import ZONE


@pytest.fixture(scope="session")
def key() -> str:
    private = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    return private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()


@pytest.fixture
def account_file(double, key, tmp_path):
    """A key of a service account, whose tokens the double gives."""
    path = tmp_path / "key.json"
    body = {
        "type": "service_account",
        "project_id": "of-the-key",
        "private_key_id": "1",
        "private_key": key,
        "client_email": "nodewright@double.iam.gserviceaccount.com",
        "token_uri": f"{double.url}/token",
    }
    path.write_text(json.dumps(body))
    return str(path)


@pytest.fixture
def federated_file(double, tmp_path):
    """A configuration of workload identity federation: a token of the cluster for one of Google."""
    token = tmp_path / "token"
    token.write_text("token-of-the-cluster")
    path = tmp_path / "federation.json"
    body = {
        "type": "external_account",
        "audience": "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/pool/providers/cluster",
        "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
        "token_url": f"{double.url}/token",
        "credential_source": {"file": str(token)},
    }
    path.write_text(json.dumps(body))
    return str(path)


def asked(double) -> list[str]:
    return [request.path for request in double.requests if str(request.call).startswith(("metadata", "oauth"))]


@pytest.mark.parametrize("kind", ["account_file", "federated_file"])
def test_a_file_of_the_settings_is_used(double, connect, request, kind) -> None:
    connect(credentials=request.getfixturevalue(kind)).migs(ZONE)

    assert asked(double) == ["/token"]


def test_a_file_of_the_environment_is_used(double, connect, account_file, monkeypatch) -> None:
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", account_file)
    connect().migs(ZONE)

    assert asked(double) == ["/token"]


def test_the_login_of_gcloud_is_used(double, connect, account_file, monkeypatch, tmp_path) -> None:
    (tmp_path / "application_default_credentials.json").write_bytes(Path(account_file).read_bytes())
    monkeypatch.setenv("CLOUDSDK_CONFIG", str(tmp_path))
    connect().migs(ZONE)

    assert asked(double) == ["/token"]


def test_the_project_of_a_key_is_the_project(connect, account_file, monkeypatch) -> None:
    monkeypatch.delenv("GOOGLE_CLOUD_PROJECT")

    assert connect(project="", credentials=account_file).project == "of-the-key"


def test_without_a_file_the_machine_is_asked(double, connect) -> None:
    connect().migs(ZONE)

    assert asked(double) == ["/computeMetadata/v1/instance/service-accounts/default/token"]


def test_a_machine_that_gives_no_token_is_explained(double, connect) -> None:
    double.faults.fail("metadata:get")

    with pytest.raises(AccessDeniedError, match=r"the metadata server gives no token .*\(workload identity\)"):
        connect().migs(ZONE)


def test_a_machine_that_gave_tokens_before_is_a_matter_of_the_network(double, connect) -> None:
    compute = connect()
    compute.migs(ZONE)
    double.faults.expire()
    double.faults.fail("metadata:get")

    with pytest.raises(CloudUnavailableError, match="no token could be had"):
        compute.migs(ZONE)


def test_outside_of_google_what_to_set_is_told(connect, monkeypatch) -> None:
    monkeypatch.delenv("GOOGLE_CLOUD_PROJECT")
    monkeypatch.setenv("GCE_METADATA_HOST", "127.0.0.1:9")

    with pytest.raises(AccessDeniedError, match=r"set credentials of provider gce or GOOGLE_APPLICATION_CREDENTIALS"):
        connect().migs(ZONE)
    with pytest.raises(ConfigurationError, match=r"^project: is not set, and no machine of Google tells it"):
        _ = connect(project="").project
    with pytest.raises(ConfigurationError, match=r"^zones: is not set"):
        connect().zone()


def test_a_token_that_is_refused_for_good_is_explained_without_what_was_sent(double, connect, account_file) -> None:
    double.faults.refuse("oauth:token", "invalid_grant", "Invalid JWT: eyJhbGciOi.SECRET", status=400)

    with pytest.raises(AccessDeniedError, match=r"no token could be had for .*; renew the credentials") as raised:
        connect(credentials=account_file).migs(ZONE)
    assert "SECRET" not in str(raised.value)


def test_a_server_for_tokens_that_does_not_answer_is_a_matter_of_the_network(double, connect, account_file) -> None:
    double.faults.drop("oauth:token")

    with pytest.raises(CloudUnavailableError, match="no token could be had"):
        connect(credentials=account_file).migs(ZONE)


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", '{"type": "unheard-of"}', '{"type": "service_account", "private_key": "SECRET"}']
)
def test_a_file_that_is_none_of_credentials_is_named(connect, tmp_path, text) -> None:
    path = tmp_path / "broken.json"
    path.write_text(text)

    with pytest.raises(AccessDeniedError, match=r"the credentials can't be used .*broken\.json") as raised:
        connect(credentials=str(path)).migs(ZONE)
    assert "SECRET" not in str(raised.value)


def test_a_file_that_is_not_there_is_named(connect) -> None:
    with pytest.raises(AccessDeniedError, match=r"there is no file /nowhere\.json; correct credentials"):
        connect(credentials="/nowhere.json").migs(ZONE)


def test_tokens_come_from_the_url_of_gce_conf_if_there_is_one(double, connect, served, tmp_path) -> None:
    served.answers["/gke"] = {"accessToken": double.secret, "expireTime": "2126-01-01T00:00:00Z"}
    file = tmp_path / "gce.conf"
    file.write_text(f'[global]\ntoken-url = {served.url}/gke\ntoken-body = "{{\\"cluster\\": 1}}"\n')
    compute = connect(cloudConfig=str(file))
    compute.migs(ZONE)
    compute.migs(ZONE)

    assert served.requests == [("POST", "/gke", f"Bearer {double.secret}", b'{"cluster": 1}')]


def test_a_url_of_gce_conf_that_gives_no_token_is_told(connect, served, tmp_path) -> None:
    served.answers["/gke"] = {"error": "SECRET"}
    file = tmp_path / "gce.conf"
    file.write_text(f"[global]\ntoken-url = {served.url}/gke\n")

    with pytest.raises(AccessDeniedError, match="the answer of token-url is no token") as raised:
        connect(cloudConfig=str(file)).migs(ZONE)
    assert "SECRET" not in str(raised.value)


def test_another_account_is_acted_as(double, connect, served, account_file) -> None:
    account = "nodewright@double.iam.gserviceaccount.com"
    path = f"/v1/projects/-/serviceAccounts/{account}:generateAccessToken"
    served.answers[path] = {"accessToken": double.secret, "expireTime": "2126-01-01T00:00:00Z"}
    endpoints = {"compute": double.url, "iam": served.url}
    connect(impersonate=account, credentials=account_file, endpoints=endpoints).migs(ZONE)

    ((method, asked_for, token, body),) = served.requests
    assert (method, asked_for, token) == ("POST", path, f"Bearer {double.secret}")
    assert "https://www.googleapis.com/auth/compute" in json.loads(body)["scope"]
