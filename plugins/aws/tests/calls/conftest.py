"""An endpoint that answers what it is told to, over HTTP."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

import pytest
from nodewright_aws.calls import Aws
from nodewright_aws.config import AwsConfig

GROUPS = (
    "<DescribeAutoScalingGroupsResponse><DescribeAutoScalingGroupsResult><AutoScalingGroups>{}</AutoScalingGroups>{}"
    "</DescribeAutoScalingGroupsResult></DescribeAutoScalingGroupsResponse>"
)


class Endpoint:
    """Answers requests with *script*, one after another, and then with *default*."""

    def __init__(self):
        self.script = []
        self.default = (200, GROUPS.format("", ""))
        self.requests = []
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = 65536

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                form = {key: values[0] for key, values in parse_qs(body).items()}
                endpoint.requests.append((form, dict(self.headers)))
                status, answer = endpoint.script.pop(0) if endpoint.script else endpoint.default
                if callable(answer):
                    answer = answer(self)
                self.send_response(status)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer.encode())

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True)
        self.thread.start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.server_port}"

    def refuse(self, code, message="no", status=400):
        return status, (
            f"<ErrorResponse><Error><Type>Sender</Type><Code>{code}</Code><Message>{message}</Message></Error>"
            "<RequestId>1</RequestId></ErrorResponse>"
        )

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join(5)


@pytest.fixture
def endpoint():
    endpoint = Endpoint()
    yield endpoint
    endpoint.close()


@pytest.fixture(autouse=True)
def environment(monkeypatch, tmp_path):
    """Credentials and nothing else that belongs to whoever runs the tests."""
    for name in ("AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAOWN")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "very-secret")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")


@pytest.fixture
def connect(endpoint):
    """Make calls of the endpoint, in eu-west-1 unless told otherwise."""
    made = []

    def connect(**config):
        services = dict.fromkeys(("autoscaling", "ec2", "ssm", "sts"), endpoint.url)
        settings = AwsConfig.model_validate({"region": "eu-west-1", "endpoints": services} | config)
        made.append(Aws(settings, user_agent="nodewright/9"))
        return made[-1]

    yield connect
    for aws in made:
        aws.close()
