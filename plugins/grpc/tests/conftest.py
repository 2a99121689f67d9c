"""Servers like those that people write for Cluster Autoscaler, on loopback."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import grpc
import pytest
import trustme

from .schema import Schema

SCHEMA = Schema("1.36")


@dataclass(kw_only=True)
class Server:
    """Answers with the options of the groups that a function makes of those that it was asked about."""

    port: int
    server: grpc.Server
    questions: list = field(default_factory=list)

    @property
    def address(self):
        return f"localhost:{self.port}"

    def stop(self):
        self.server.stop(None).wait()


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch):
    """Loopback is reached directly, whatever the environment says."""
    for name in ("grpc_proxy", "https_proxy", "http_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def serve():
    """Starts servers; all of them are stopped at the end."""
    servers = []

    def start(answer=lambda groups: groups, *, port=0, credentials=None, service="grpcplugin.Expander"):
        pool = ThreadPoolExecutor(max_workers=2)
        server = grpc.server(pool, options=[("grpc.max_receive_message_length", -1)])
        questions = []

        def best_options(request, context):
            groups = [option.nodeGroupId for option in request.options]
            questions.append(groups)
            found = answer(groups)
            if isinstance(found, bytes):
                return found
            options = [SCHEMA["Option"](nodeGroupId=group) for group in found]
            return SCHEMA["BestOptionsResponse"](options=options).SerializeToString()

        handler = grpc.unary_unary_rpc_method_handler(
            best_options, request_deserializer=SCHEMA["BestOptionsRequest"].FromString
        )
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, {"BestOptions": handler}),))
        address = f"localhost:{port}"
        port = server.add_secure_port(address, credentials) if credentials else server.add_insecure_port(address)
        server.start()
        servers.append((server, pool))
        return Server(port=port, server=server, questions=questions)

    yield start
    for server, pool in servers:
        server.stop(None).wait()
        pool.shutdown()


class Authority:
    """A certificate authority, and the files that it writes."""

    def __init__(self, directory):
        self._directory = directory
        self._authority = trustme.CA()
        self.certificate = self._write("ca.crt", self._authority.cert_pem)

    def issue(self, name):
        """Files with the certificate and the key of *name*."""
        issued = self._authority.issue_cert(name, "127.0.0.1")
        return (
            self._write(f"{name}.crt", issued.cert_chain_pems[0]),
            self._write(f"{name}.key", issued.private_key_pem),
        )

    def credentials(self, *, clients_need_one=False):
        """What a server on localhost needs."""
        certificate, key = (path.read_bytes() for path in self.issue("localhost"))
        return grpc.ssl_server_credentials(
            [(key, certificate)], self.certificate.read_bytes(), require_client_auth=clients_need_one
        )

    def _write(self, name, blob):
        path = self._directory / name
        path.write_bytes(blob.bytes())
        return path


@pytest.fixture
def authority(tmp_path):
    """An authority that servers and clients may trust."""
    return Authority(tmp_path)


@pytest.fixture
def another_authority(tmp_path):
    """One that has nothing to do with the first."""
    directory = tmp_path / "elsewhere"
    directory.mkdir()
    return Authority(directory)
