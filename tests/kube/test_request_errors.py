"""Trouble with the API server is one clear sentence, logged once."""

import json
import logging
import socket
import ssl
import sys
from contextlib import contextmanager, suppress
from threading import Thread
from time import sleep

import pytest
import trustme
import yaml
from nodewright.api import AccessDeniedError, ApiServerError, ConfigurationError
from nodewright.kube import credentials as all_credentials
from nodewright.kube import reflector as reflectors
from nodewright.kube import rights
from nodewright.kube import transport as transports
from nodewright.kube.kinds import KINDS
from nodewright.kube.transport import connect
from nodewright.testing.clock import SteppedClock
from nodewright_fake.apiserver.faults import Fault
from nodewright_fake.apiserver.server import ApiServer
from nodewright_fake.apiserver.store import Store


def a_kubeconfig(path, server, user=None, **cluster):
    """A kubeconfig file for a server and a user."""
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": {"server": server, **cluster}}],
        "users": [{"name": "u", "user": user or {}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }
    path.write_text(yaml.safe_dump(config))
    return str(path)


@contextmanager
def a_listener(serve):
    """A server other than an API server: *serve* is called with each connection."""

    def accept():
        while True:
            client, _ = listener.accept()
            with client:
                if done:
                    return
                with suppress(OSError):
                    serve(client)

    done = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = Thread(target=accept)
        thread.start()
        yield listener.getsockname()[1]
        done.append(True)
        socket.create_connection(listener.getsockname()).close()
        thread.join()


def a_tls_server(authority, name):
    """A function that serves TLS as *name*."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(name).configure_cert(context)

    def serve(client):
        with context.wrap_socket(client, server_side=True) as wrapped:
            wrapped.recv(1)

    return serve


class TestNoAnswer:
    def ask(self, folder, server, **cluster):
        transport = connect(kubeconfig=a_kubeconfig(folder / "config", server, **cluster), patience=0.1)
        with pytest.raises(ApiServerError) as failure:
            transport.get("/api/v1/nodes")
        return str(failure.value)

    def test_no_one_listens(self, tmp_path) -> None:
        told = self.ask(tmp_path, "http://127.0.0.1:9")
        assert told == "the API server at http://127.0.0.1:9 does not answer: connection refused"

    def test_the_name_is_not_known(self, tmp_path) -> None:
        told = self.ask(tmp_path, "http://nowhere.invalid:6443")
        assert told == "the API server at http://nowhere.invalid:6443 does not answer: its host name is unknown"

    def test_it_hangs_up(self, tmp_path) -> None:
        with a_listener(lambda client: client.recv(1)) as port:
            told = self.ask(tmp_path, f"http://127.0.0.1:{port}")
        assert told.endswith(("does not answer: it closed the connection", "does not answer: connection reset by peer"))

    def test_it_says_nothing(self, tmp_path) -> None:
        with a_listener(lambda client: (client.recv(4096), client.recv(4096))) as port:
            told = self.ask(tmp_path, f"http://127.0.0.1:{port}")
        assert told.endswith("does not answer: no response in time")

    def test_its_answer_breaks_off(self, server, transport) -> None:
        server.faults.append(Fault(hang_up="midway"))
        with pytest.raises(ApiServerError, match=r"does not answer: its answer broke off$"):
            transport.get("/api/v1/nodes")

    def test_its_certificate_has_an_unknown_authority(self, tmp_path) -> None:
        other = tmp_path / "ca.pem"
        trustme.CA().cert_pem.write_to_path(str(other))
        with a_listener(a_tls_server(trustme.CA(), "127.0.0.1")) as port:
            address = f"https://127.0.0.1:{port}"
            told = self.ask(tmp_path, address, **{"certificate-authority": str(other)})
        assert told.startswith(f"the certificate of the API server at {address} is not accepted: unable to get local")
        assert told.endswith("check the certificate authority and the address in the kubeconfig")

    def test_its_certificate_is_for_another_name(self, tmp_path) -> None:
        authority, ca = trustme.CA(), tmp_path / "ca.pem"
        authority.cert_pem.write_to_path(str(ca))
        with a_listener(a_tls_server(authority, "other.example")) as port:
            told = self.ask(tmp_path, f"https://127.0.0.1:{port}", **{"certificate-authority": str(ca)})
        assert "is not accepted: IP address mismatch, certificate is not valid for '127.0.0.1'" in told

    def test_it_speaks_no_tls(self, tmp_path) -> None:
        with a_listener(lambda client: client.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")) as port:
            told = self.ask(tmp_path, f"https://127.0.0.1:{port}")
        assert told.startswith(f"no TLS connection to the API server at https://127.0.0.1:{port}: ")


class TestOutages:
    def test_an_outage_is_logged_when_it_begins_and_when_it_ends(
        self, follow, server, eventually, caplog, monkeypatch
    ) -> None:
        monkeypatch.setattr(transports, "_QUIET_SECONDS", 0.3)
        monkeypatch.setattr(reflectors, "_LONGEST_PAUSE", 0.2)
        caplog.set_level(logging.INFO)
        feed = follow()
        feed.wait_until_synced(10)
        address, store = server.url, server.store
        server.stop()
        eventually(lambda: caplog.messages)
        (line,) = caplog.messages
        assert line == (
            f"the API server at {address} does not answer: connection refused; "
            "everything that needs it waits until it answers again"
        )
        with ApiServer(store, port=int(address.rpartition(":")[2])) as again:
            eventually(lambda: len(caplog.messages) == 2)
            assert caplog.messages[1].startswith(f"the API server at {address} answers again, after ")
            again.send_bookmarks()
            feed.wait_for_version(store.version, 10)
            assert len(caplog.messages) == 2

    def test_refusals_of_a_server_that_is_just_back_are_not_logged_for_each_kind(
        self, follow, server, eventually, caplog, monkeypatch
    ) -> None:
        monkeypatch.setattr(reflectors, "_LONGEST_PAUSE", 0.1)
        monkeypatch.setattr(reflectors, "_QUIET_SECONDS", 0)
        monkeypatch.setattr(reflectors, "_SHORT_SECONDS", 0)
        monkeypatch.setattr(transports, "_QUIET_SECONDS", 0)
        feed = follow()
        feed.wait_until_synced(10)
        tried = []
        away = Fault(hang_up="before")
        server.faults.append(away)
        server.drop_watches()
        eventually(lambda: "does not answer" in caplog.text)
        server.authorize = lambda request: tried.append(request) or "no"
        server.faults.remove(away)
        eventually(lambda: len(tried) > len(KINDS))
        assert "cannot watch" not in caplog.text

    def test_a_server_that_is_ill_is_an_outage_too(self, server, follow, eventually, caplog, monkeypatch) -> None:
        monkeypatch.setattr(transports, "_QUIET_SECONDS", 0.3)
        monkeypatch.setattr(reflectors, "_LONGEST_PAUSE", 0.2)
        ill = Fault(status=503, message="etcd is on fire")
        server.faults.append(ill)
        follow()
        eventually(lambda: caplog.messages)
        server.faults.remove(ill)
        eventually(lambda: len(caplog.messages) == 2)
        assert "has an error: list" in caplog.messages[0]
        assert "etcd is on fire" in caplog.messages[0]

    def test_whoever_waits_to_try_again_goes_on_as_soon_as_the_server_answers(
        self, follow, server, transport, eventually, monkeypatch
    ) -> None:
        monkeypatch.setattr(transports, "_QUIET_SECONDS", 0)
        # A watch that ends right after its beginning says nothing about the server: then nobody would ask for a minute.
        monkeypatch.setattr(reflectors, "_SHORT_SECONDS", 0)
        monkeypatch.setattr(reflectors, "_FIRST_PAUSE", 60.0)
        feed = follow()
        feed.wait_until_synced(10)
        port, store = int(server.url.rpartition(":")[2]), server.store
        server.stop()
        eventually(lambda: all(feed.troubles().values()))
        with ApiServer(store, port=port) as again:
            eventually(lambda: not any(feed.troubles().values()))
            again.send_bookmarks()
            feed.wait_for_version(store.version, 5)

    def test_those_who_wait_take_turns_to_ask(self, follow, server, eventually, monkeypatch) -> None:
        monkeypatch.setattr(transports, "_QUIET_SECONDS", 0)
        monkeypatch.setattr(transports, "_PROBE_SECONDS", 0.2)
        monkeypatch.setattr(reflectors, "_FIRST_PAUSE", 60.0)
        feed = follow()
        feed.wait_until_synced(10)
        away = Fault(hang_up="before")
        server.faults.append(away)
        server.drop_watches()
        eventually(lambda: all(feed.troubles().values()))
        before = away.hits
        sleep(1.1)
        assert 3 <= away.hits - before <= 7

    def test_single_failed_requests_are_no_outage(self, server, transport, caplog, monkeypatch) -> None:
        monkeypatch.setattr(transports, "_QUIET_SECONDS", 1e-9)
        for _ in range(3):
            server.faults.append(Fault(times=1, status=500))
            with pytest.raises(ApiServerError):
                transport.get("/api/v1/nodes")
            transport.get("/api/v1/nodes")
        assert caplog.messages == []


class TestRights:
    def test_an_api_server_that_is_just_back_may_not_know_the_roles_yet(
        self, server, transport, caplog, monkeypatch
    ) -> None:
        server.faults.append(Fault(times=1, hang_up="before"))
        with pytest.raises(ApiServerError):
            transport.get("/api/v1/pods")
        transport.get("/version")
        server.authorize = lambda request: "no"
        for _ in range(2):
            with pytest.raises(
                ApiServerError, match="has just come back and does not know yet whether we may list pods"
            ):
                transport.get("/api/v1/pods")
        assert "may not" not in caplog.text
        monkeypatch.setattr(rights, "_WARM_UP_SECONDS", 0)
        with pytest.raises(AccessDeniedError):
            transport.get("/api/v1/pods")
        assert caplog.text.count("may not list pods") == 1


class TestCredentials:
    @pytest.fixture
    def strict(self):
        """A server that requires a token."""
        with ApiServer(Store(SteppedClock()), tokens={"old": "me", "new": "me"}) as server:
            yield server

    @pytest.fixture(autouse=True)
    def _at_once(self, monkeypatch):
        monkeypatch.setattr(all_credentials, "_RENEWAL_SECONDS", 0.0)

    def plugin(self, folder, answer):
        """The user of a kubeconfig with a credential plugin; *answer* is its Python code."""
        program = folder / "plugin.py"
        program.write_text(answer)
        version = "client.authentication.k8s.io/v1"
        return {"exec": {"apiVersion": version, "command": sys.executable, "args": [str(program)]}}

    def token(self, token, **status):
        version = "client.authentication.k8s.io/v1"
        answer = {"apiVersion": version, "kind": "ExecCredential", "status": {"token": token, **status}}
        return f"print({json.dumps(json.dumps(answer))})"

    def test_an_expired_token_is_read_again(self, strict, tmp_path) -> None:
        path = tmp_path / "config"
        transport = connect(kubeconfig=a_kubeconfig(path, strict.url, {"token": "stale"}))
        with pytest.raises(AccessDeniedError, match=f"the API server at {strict.url} does not accept our credentials"):
            transport.get("/api/v1/nodes")
        a_kubeconfig(path, strict.url, {"token": "new"})
        with pytest.raises(AccessDeniedError, match="they have expired, or belong to another cluster"):
            transport.get("/api/v1/nodes")
        assert transport.get("/api/v1/nodes")

    def test_a_plugin_is_asked_again_when_its_token_is_refused(self, strict, tmp_path) -> None:
        user = self.plugin(tmp_path, self.token("stale"))
        transport = connect(kubeconfig=a_kubeconfig(tmp_path / "config", strict.url, user))
        self.plugin(tmp_path, self.token("new"))
        with pytest.raises(AccessDeniedError):
            transport.get("/api/v1/nodes")
        assert transport.get("/api/v1/nodes")

    def test_a_failing_plugin_is_reported_at_the_start(self, strict, tmp_path) -> None:
        user = self.plugin(tmp_path, "import sys; sys.exit('log in first')")
        with pytest.raises(ConfigurationError) as refusal:
            connect(kubeconfig=a_kubeconfig(tmp_path / "config", strict.url, user))
        assert str(refusal.value) == (
            f"kube.kubeconfig: no credentials for the API server: exec plugin {sys.executable} ended with status 1: "
            "log in first. Fix the user in the kubeconfig"
        )

    def test_a_kubeconfig_that_is_not_there_is_named(self, tmp_path) -> None:
        with pytest.raises(
            ConfigurationError, match=r"no access to the API server: .*nowhere: no such file or directory\. Name a file"
        ):
            connect(kubeconfig=str(tmp_path / "nowhere"))

    def test_a_plugin_that_fails_later_is_reported_and_run_again(self, strict, tmp_path) -> None:
        user = self.plugin(tmp_path, self.token("old", expirationTimestamp="2020-01-01T00:00:00Z"))
        transport = connect(kubeconfig=a_kubeconfig(tmp_path / "config", strict.url, user))
        self.plugin(tmp_path, "import sys; sys.exit('log in again')")
        with pytest.raises(AccessDeniedError) as refusal:
            transport.get("/api/v1/nodes")
        program = f"exec plugin {sys.executable} ended with status 1"
        expected = f"no credentials for the API server: {program}: log in again"
        assert str(refusal.value) == expected
        self.plugin(tmp_path, self.token("new"))
        assert transport.get("/api/v1/nodes")
