"""Every way to prove who we are that people use, against a TLS server."""

import base64
import json
import os
import stat
import sys
from datetime import UTC, datetime, timedelta

import pytest
import yaml
from nodewright.api import AccessDeniedError, ApiServerError, ConfigurationError
from nodewright.kube import credentials, kubeconfig
from nodewright.kube.connections import _bypassed
from nodewright.kube.transport import connect

from .strict_server import Proxy, StrictServer

V1, V1BETA1 = "client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"


def data(content):
    return base64.b64encode(content).decode()


@pytest.fixture
def server():
    with StrictServer() as server:
        yield server


@pytest.fixture(autouse=True)
def outside(monkeypatch, tmp_path):
    """Neither a pod nor a kubeconfig of whoever runs the tests, and no proxies."""
    for name in list(os.environ):
        if name.lower().endswith("_proxy") or name.startswith("KUBE"):
            monkeypatch.delenv(name)
    monkeypatch.setattr(kubeconfig, "_SERVICE_ACCOUNT", tmp_path / "serviceaccount")
    monkeypatch.setattr(kubeconfig, "_DEFAULT", str(tmp_path / "home" / "config"))


@pytest.fixture
def at_once(monkeypatch):
    """Files are read again, and credentials renewed, whenever they are needed."""
    monkeypatch.setattr(credentials, "_FILE_SECONDS", 0.0)
    monkeypatch.setattr(credentials, "_RENEWAL_SECONDS", 0.0)


@pytest.fixture
def write(server, tmp_path):
    """Writes a kubeconfig and returns its path."""

    def write(user=None, name="config", **cluster):
        path = tmp_path / name
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "preferences": {},
            "clusters": [{"name": "c", "cluster": {**server.cluster, **cluster}}],
            "users": [{"name": "u", "user": user or {}}],
            "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u", "namespace": "n"}}],
            "current-context": "x",
        }
        path.write_text(yaml.safe_dump({key: value for key, value in config.items() if value is not None}))
        return str(path)

    return write


@pytest.fixture
def shown(server, write):
    """Returns what the server sees of a user."""

    def ask(user=None, **cluster):
        connect(kubeconfig=write(user, **cluster)).get("/api/v1/nodes")
        return server.seen[-1]

    return ask


class TestKubeconfig:
    def test_a_token_that_is_written_out(self, shown) -> None:
        assert shown({"token": "abc"}).authorization == "Bearer abc"

    def test_a_token_file_next_to_it_comes_before_a_token_and_is_read_again(
        self, server, write, tmp_path, at_once
    ) -> None:
        (tmp_path / "token").write_text("first\n")
        transport = connect(kubeconfig=write({"tokenFile": "token", "token": "other"}))
        transport.get("/")
        (tmp_path / "token").write_text("second\n")
        transport.get("/")
        assert [each.authorization for each in server.seen] == ["Bearer first", "Bearer second"]

    def test_a_name_and_a_password(self, shown) -> None:
        assert shown({"username": "me", "password": "pass"}).authorization == f"Basic {data(b'me:pass')}"

    def test_a_client_certificate_that_is_written_out(self, server, shown) -> None:
        certificate, key = server.certificate("ann")
        seen = shown({"client-certificate-data": data(certificate), "client-key-data": data(key)})
        assert (seen.certificate, seen.authorization) == ("ann", "")

    def test_a_client_certificate_in_files_is_read_again(self, server, write, tmp_path, at_once) -> None:
        def issue(name):
            for file, content in zip(("tls.crt", "tls.key"), server.certificate(name), strict=True):
                (tmp_path / file).write_bytes(content)

        issue("ann")
        transport = connect(kubeconfig=write({"client-certificate": "tls.crt", "client-key": "tls.key"}))
        transport.get("/")
        issue("bob")
        transport.get("/")
        assert [each.certificate for each in server.seen] == ["ann", "bob"]

    def test_a_certificate_without_its_key_is_refused(self, server, write) -> None:
        certificate, _ = server.certificate("ann")
        with pytest.raises(ConfigurationError, match="a client certificate needs its key"):
            connect(kubeconfig=write({"client-certificate-data": data(certificate)}))

    def test_a_certificate_with_another_key_is_refused(self, server, write) -> None:
        (certificate, _), (_, key) = server.certificate("ann"), server.certificate("bob")
        user = {"client-certificate-data": data(certificate), "client-key-data": data(key)}
        with pytest.raises(ConfigurationError, match="one does not match the other"):
            connect(kubeconfig=write(user))

    def test_nobody(self, shown) -> None:
        assert (shown().authorization, shown().certificate) == ("", "")

    def test_keys_without_a_value_are_as_good_as_none(self, shown) -> None:
        assert shown({"token": "abc", "exec": None, "client-key": None}, **{"proxy-url": None}).authorization

    @pytest.mark.parametrize("user", [{"auth-provider": {"name": "gcp"}}, {"token": "a", "as": "somebody"}])
    def test_what_is_not_supported_is_not_left_out(self, write, user) -> None:
        with pytest.raises(ConfigurationError, match=r"user 'u' has auth-provider or as, which are not supported"):
            connect(kubeconfig=write(user))

    def test_a_file_that_is_no_kubeconfig_is_told_with_the_place(self, tmp_path) -> None:
        path = tmp_path / "config"
        for text, told in (
            ("users: [{name: u, user: {token: 5}}]", r"Expected `str`, got `int` - at `\$\.users\[0\]\.user\.token`"),
            ("- a", "Expected `object`, got `array`"),
            ("{", "is no YAML"),
            ("", "has no current-context"),
            ("current-context: x", "has no context 'x'"),
            ("{current-context: x, contexts: [{name: x, context: {cluster: c}}]}", "has no cluster 'c' of context 'x'"),
        ):
            path.write_text(text)
            with pytest.raises(ConfigurationError, match=f"no access to the API server: .*config:? ?{told}"):
                connect(kubeconfig=str(path))


class TestPlaces:
    def test_several_files_are_merged_and_the_first_to_name_something_counts(
        self, server, write, tmp_path, monkeypatch
    ) -> None:
        other = tmp_path / "other" / "config"
        other.parent.mkdir()
        (other.parent / "token").write_text("of-another-folder")
        other.write_text(
            yaml.safe_dump(
                {
                    "users": [{"name": "v", "user": {"tokenFile": "token"}}],
                    "contexts": [{"name": "y", "context": {"cluster": "c", "user": "v"}}],
                    "current-context": "y",
                }
            )
        )
        missing, second = str(tmp_path / "missing"), write({"token": "second"})
        monkeypatch.setenv("KUBECONFIG", os.pathsep.join((missing, str(other), second)))
        connect().get("/")
        monkeypatch.setenv("KUBECONFIG", os.pathsep.join((second, str(other))))
        connect().get("/")
        assert [each.authorization for each in server.seen] == ["Bearer of-another-folder", "Bearer second"]

    def test_the_file_at_home_is_the_last_resort(self, server, write, tmp_path) -> None:
        (tmp_path / "home").mkdir()
        write({"token": "at-home"}, name="home/config")
        connect().get("/")
        assert server.seen[-1].authorization == "Bearer at-home"

    def test_without_any_it_is_told_what_was_looked_for(self, monkeypatch) -> None:
        with pytest.raises(
            ConfigurationError, match=r"this is no pod, and there is no kubeconfig at .*home/config\. Na"
        ):
            connect()
        monkeypatch.setenv("KUBECONFIG", "/nowhere")
        with pytest.raises(ConfigurationError, match=r"no kubeconfig at /nowhere"):
            connect()

    def test_a_pod_uses_its_service_account_and_follows_the_tokens_rotation(
        self, server, tmp_path, monkeypatch, at_once
    ) -> None:
        account = tmp_path / "serviceaccount"
        account.mkdir()
        (account / "ca.crt").write_bytes(server.pem)
        (account / "token").write_text("first")
        monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "127.0.0.1")
        monkeypatch.setenv("KUBERNETES_SERVICE_PORT", str(server.port))
        transport = connect()
        transport.get("/")
        (account / "token").write_text("second")
        transport.get("/")
        assert [each.authorization for each in server.seen] == ["Bearer first", "Bearer second"]

    def test_a_file_that_is_named_comes_before_the_service_account(self, server, write, tmp_path, monkeypatch) -> None:
        (tmp_path / "serviceaccount").mkdir()
        for name in ("ca.crt", "token"):
            (tmp_path / "serviceaccount" / name).write_text("x")
        monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "203.0.113.1")
        monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
        connect(kubeconfig=write({"token": "named"})).get("/")
        assert server.seen[-1].authorization == "Bearer named"

    def test_an_address_of_ipv6_is_written_as_urls_have_it(self, server, tmp_path, monkeypatch) -> None:
        (tmp_path / "serviceaccount").mkdir()
        (tmp_path / "serviceaccount" / "ca.crt").write_bytes(server.pem)
        (tmp_path / "serviceaccount" / "token").write_text("x")
        monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "fd00::1")
        monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
        assert connect().host == "https://[fd00::1]:443"

    def test_another_address_keeps_the_user(self, server, write) -> None:
        connect(kubeconfig=write({"token": "abc"}, server="https://203.0.113.1"), server=f"{server.url}/").get("/")
        assert server.seen[-1].authorization == "Bearer abc"

    def test_a_path_in_the_address_stays(self, shown, server) -> None:
        assert shown(server=f"{server.url}/k8s/clusters/c-1/").path == "/k8s/clusters/c-1/api/v1/nodes"


class TestTls:
    def test_an_authority_in_a_file_next_to_the_kubeconfig(self, server, shown, tmp_path) -> None:
        (tmp_path / "ca.pem").write_bytes(server.pem)
        assert shown(**{"certificate-authority-data": None, "certificate-authority": "ca.pem"})

    def test_the_name_of_the_server_may_be_another_one(self, tmp_path) -> None:
        with StrictServer(names=("api.example",)) as server:
            path = tmp_path / "config"
            for name, accepted in (("api.example", True), ("other.example", False), ("", False)):
                cluster = server.cluster | {"tls-server-name": name}
                config = {
                    "clusters": [{"name": "c", "cluster": cluster}],
                    "contexts": [{"name": "x", "context": {"cluster": "c"}}],
                    "current-context": "x",
                }
                path.write_text(yaml.safe_dump(config))
                if accepted:
                    connect(kubeconfig=str(path)).get("/")
                    assert server.seen[-1].asked_for == name
                else:
                    with pytest.raises(ApiServerError, match=r"is not accepted: .*mismatch"):
                        connect(kubeconfig=str(path)).get("/")

    def test_an_unknown_authority_is_refused_unless_nothing_is_to_be_checked(self, server, shown, write) -> None:
        with pytest.raises(ApiServerError, match="is not accepted"):
            shown({"token": "secret"}, **{"certificate-authority-data": None})
        assert not server.seen
        assert shown(**{"certificate-authority-data": None, "insecure-skip-tls-verify": True})

    def test_an_intermediate_authority_is_trusted_as_it_is_given(self, server, tmp_path) -> None:
        below = server.authority.create_child_ca()
        with StrictServer(authority=below) as other:
            other.authority = below
            path = tmp_path / "config"
            cluster = {"server": other.url, "certificate-authority-data": data(below.cert_pem.bytes())}
            config = {
                "clusters": [{"name": "c", "cluster": cluster}],
                "contexts": [{"name": "x", "context": {"cluster": "c"}}],
                "current-context": "x",
            }
            path.write_text(yaml.safe_dump(config))
            connect(kubeconfig=str(path)).get("/")

    def test_an_authority_that_is_no_certificate_is_told_at_the_start(self, write) -> None:
        for content in (b"no certificate", b"-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----\n"):
            with pytest.raises(ConfigurationError, match=r"a certificate or key for .* is no PEM"):
                connect(kubeconfig=write(**{"certificate-authority-data": data(content)}))


class TestProxies:
    def test_the_kubeconfig_names_one_with_a_login(self, server, shown) -> None:
        with Proxy() as proxy:
            assert shown(**{"proxy-url": f"http://me:p%40ss@{proxy.address}"})
        assert proxy.targets == [f"127.0.0.1:{server.port}"]
        assert proxy.logins == [f"Basic {data(b'me:p@ss')}"]

    def test_the_environment_names_one(self, server, shown, monkeypatch) -> None:
        with Proxy() as proxy:
            monkeypatch.setenv("HTTPS_PROXY", proxy.address)
            monkeypatch.setattr("nodewright.kube.connections._bypassed", lambda url, rules: False)
            assert shown()
        assert proxy.targets == [f"127.0.0.1:{server.port}"]

    def test_a_proxy_of_another_kind_is_refused(self, write) -> None:
        with pytest.raises(ConfigurationError, match=r"proxy in front of .* is neither one of http nor of https"):
            connect(kubeconfig=write(**{"proxy-url": "socks5://127.0.0.1:1080"}))

    @pytest.mark.parametrize(
        ("url", "rules", "bypassed"),
        [
            ("https://10.0.0.1:443", "localhost,10.0.0.0/8", True),
            ("https://10.0.0.1:443", "10.0.0.1", True),
            ("https://11.0.0.1:443", "10.0.0.0/8", False),
            ("https://[fd00::1]:443", "fd00::/8", True),
            ("https://api.corp.example:6443", ".corp.example", True),
            ("https://api.corp.example:6443", "corp.example", True),
            ("https://api.corp.example:6443", "*.corp.example", True),
            ("https://corp.example:6443", ".corp.example", True),
            ("https://notcorp.example", "corp.example", False),
            ("https://api.example:6443", "api.example:6443", True),
            ("https://api.example:6443", "api.example:443", False),
            ("https://api.example", "*", True),
            ("https://api.example", "", False),
            ("https://127.0.0.1:6443", "", True),
            ("https://localhost:6443", "", True),
        ],
    )
    def test_no_proxy_has_the_rules_of_go(self, url, rules, bypassed) -> None:
        assert _bypassed(url, rules) is bypassed


class TestExecPlugins:
    @pytest.fixture
    def plugin(self, tmp_path):
        """The user of a plugin that tells *status* and keeps what it was told in ``told``, a line each time."""

        def make(status=None, version=V1, code="", **fields):
            answer = {"apiVersion": version, "kind": "ExecCredential", "status": status}
            program = tmp_path / "plugin"
            program.write_text(
                f"#!{sys.executable}\nimport os, sys\n"
                f"open({str(tmp_path / 'told')!r}, 'a').write(os.environ['KUBERNETES_EXEC_INFO'] + chr(10))\n"
                f"{code}\nprint({json.dumps(answer)!r})\n"
            )
            program.chmod(program.stat().st_mode | stat.S_IXUSR)
            return {"exec": {"apiVersion": version, "command": "./plugin", "interactiveMode": "Never", **fields}}

        return make

    @pytest.fixture
    def told(self, tmp_path):
        return lambda: [json.loads(line) for line in (tmp_path / "told").read_text().splitlines()]

    @pytest.mark.parametrize("version", [V1, V1BETA1])
    def test_a_token(self, shown, plugin, told, version) -> None:
        assert shown(plugin({"token": "abc"}, version)).authorization == "Bearer abc"
        assert told() == [{"apiVersion": version, "kind": "ExecCredential", "spec": {"interactive": False}}]

    def test_a_certificate_that_is_renewed_when_it_expires(self, server, write, plugin) -> None:
        def status(name, **fields):
            certificate, key = server.certificate(name)
            return {"clientCertificateData": certificate.decode(), "clientKeyData": key.decode(), **fields}

        transport = connect(kubeconfig=write(plugin(status("ann", expirationTimestamp="2020-01-01T00:00:00Z"))))
        transport.get("/")
        plugin(status("bob"))
        transport.get("/")
        assert [each.certificate for each in server.seen[-2:]] == ["ann", "bob"]

    def test_it_is_run_once_for_as_long_as_its_token_is_good(self, server, write, plugin, told) -> None:
        soon = (datetime.now(UTC) + timedelta(hours=1)).isoformat().replace("+00:00", "Z")
        transport = connect(kubeconfig=write(plugin({"token": "abc", "expirationTimestamp": soon})))
        for _ in range(3):
            transport.get("/")
        assert len(told()) == 1

    def test_it_is_run_before_its_token_expires(self, server, write, plugin, told) -> None:
        soon = (datetime.now(UTC) + timedelta(seconds=0.5)).isoformat()
        transport = connect(kubeconfig=write(plugin({"token": "abc", "expirationTimestamp": soon})))
        plugin({"token": "def"})
        while server.seen[-1:] == [] or server.seen[-1].authorization == "Bearer abc":
            assert datetime.now(UTC).isoformat() < soon or len(told()) > 1
            transport.get("/")
        assert server.seen[-1].authorization == "Bearer def"

    def test_it_is_told_the_cluster_if_it_wants(self, server, shown, plugin, told) -> None:
        extension = {"name": "client.authentication.k8s.io/exec", "extension": {"audience": "prod"}}
        shown(plugin({"token": "abc"}, provideClusterInfo=True), extensions=[extension])
        assert told()[0]["spec"]["cluster"] == {
            "server": server.url,
            "certificate-authority-data": data(server.pem),
            "config": {"audience": "prod"},
        }

    def test_it_has_its_arguments_and_variables(self, shown, plugin) -> None:
        code = "assert (sys.argv[1:], os.environ['CLUSTER']) == (['token', '-i'], 'prod')"
        env = [{"name": "CLUSTER", "value": "prod"}]
        user = plugin({"token": "abc"}, code=code, args=["token", "-i"], env=env)
        assert shown(user).authorization == "Bearer abc"

    def test_a_name_without_a_slash_is_looked_for_in_the_path(self, shown, plugin, tmp_path, monkeypatch) -> None:
        monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
        assert shown(plugin({"token": "abc"}, command="plugin")).authorization == "Bearer abc"

    def test_a_refused_token_is_asked_for_again(self, server, write, plugin, at_once) -> None:
        server.refused.add("Bearer stale")
        transport = connect(kubeconfig=write(plugin({"token": "stale"})))
        plugin({"token": "fresh"})
        with pytest.raises(AccessDeniedError):
            transport.get("/")
        transport.get("/")
        assert server.seen[-1].authorization == "Bearer fresh"

    def test_one_that_has_to_ask_somebody_is_not_run_without_a_terminal(self, write, plugin, tmp_path) -> None:
        with pytest.raises(ConfigurationError, match=r"wants to ask somebody, and there is no terminal"):
            connect(kubeconfig=write(plugin({"token": "abc"}, interactiveMode="Always")))
        assert not (tmp_path / "told").exists()

    @pytest.mark.parametrize(
        ("status", "fields", "problem"),
        [
            ({}, {}, "told neither a token nor a certificate"),
            ({"clientCertificateData": "x"}, {}, "told a certificate without its key"),
            ({"token": "abc", "expirationTimestamp": "soon"}, {}, "an expirationTimestamp that is no time: 'soon'"),
            (None, {}, "told no ExecCredential"),
            ({"token": "abc"}, {"code": "print('hello')"}, "told no ExecCredential"),
            ({"token": "abc"}, {"code": "sys.exit('log in first')"}, "ended with status 1: log in first"),
            ({"token": "abc"}, {"command": "no-such", "installHint": "get it"}, "no-such is not installed: get it"),
            ({"token": "abc"}, {"interactiveMode": "Perhaps"}, "an interactiveMode that is none of Never"),
            ({"token": "abc"}, {"version": V1.replace("v1", "v1alpha1")}, "which no longer exists: write it for"),
        ],
    )
    def test_what_is_wrong_with_one_is_told_at_the_start(self, write, plugin, status, fields, problem) -> None:
        with pytest.raises(ConfigurationError, match=problem):
            connect(kubeconfig=write(plugin(status, **fields)))

    def test_one_that_answers_in_another_version_is_refused(self, write, plugin) -> None:
        user = plugin({"token": "abc"}, V1BETA1)
        user["exec"]["apiVersion"] = V1
        with pytest.raises(ConfigurationError, match=r"told ExecCredential of .*v1beta1, and the kubeconfig"):
            connect(kubeconfig=write(user))

    def test_secrets_stand_in_no_representation(self, write, plugin) -> None:
        user = {
            "token": "mark-1",
            "username": "me",
            "password": "mark-2",
            **plugin({}, env=[{"name": "A", "value": "mark-3"}]),
        }
        assert "mark-" not in repr(kubeconfig.find_access(write(user, **{"proxy-url": "http://me:mark-4@proxy"}), ""))
