"""moto, which keeps resources but does not simulate their behaviour."""

import io
from itertools import count
from typing import Any
from urllib.parse import unquote, urlsplit

from nodewright_aws.testing.messages import Reply, Request
from nodewright_aws.testing.wire import read_reply, write_request

# moto keeps its state by account, for the whole process.
_accounts = count(100_000_000_001)


class Moto:
    """An account and region of its own in moto, called in this process."""

    def __init__(self, region: str) -> None:
        from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app

        self.region = region
        self.account = str(next(_accounts))
        self._application: Any = DomainDispatcherApplication(create_backend_app)

    def forget(self) -> None:
        """Start anew. Of EC2, it forgets only launch templates: reading all images again takes long."""
        from moto.backends import get_backend

        for service in ("autoscaling", "eks", "sqs", "ssm"):
            get_backend(service)[self.account][self.region].reset()
        while found := self.call("ec2", "describe_launch_templates")["LaunchTemplates"]:
            for template in found:
                self.call("ec2", "delete_launch_template", LaunchTemplateId=template["LaunchTemplateId"])

    def answer(self, request: Request) -> Reply:
        """Return moto's answer."""
        url = urlsplit(request.path)
        environment: dict[str, Any] = {
            "REQUEST_METHOD": request.method,
            "SCRIPT_NAME": "",
            "PATH_INFO": unquote(url.path),
            "QUERY_STRING": url.query,
            "RAW_URI": request.path,
            "SERVER_NAME": "127.0.0.1",
            "SERVER_PORT": "80",
            "SERVER_PROTOCOL": "HTTP/1.1",
            "REMOTE_ADDR": "127.0.0.1",
            "CONTENT_LENGTH": str(len(request.body)),
            "wsgi.version": (1, 0),
            "wsgi.url_scheme": "http",
            "wsgi.input": io.BytesIO(request.body),
            "wsgi.errors": io.StringIO(),
            "wsgi.multithread": True,
            "wsgi.multiprocess": False,
            "wsgi.run_once": False,
        }
        for name, value in request.headers.items():
            environment["HTTP_" + name.upper().replace("-", "_")] = value
        environment["CONTENT_TYPE"] = environment.pop("HTTP_CONTENT_TYPE", "")
        environment.setdefault("HTTP_HOST", "127.0.0.1")
        environment["HTTP_X_MOTO_ACCOUNT_ID"] = self.account
        status, headers = 0, {}

        def start(line: str, pairs: list[tuple[str, str]], error: Any = None) -> None:
            nonlocal status, headers
            status = int(line.split()[0])
            headers = {name: value for name, value in pairs if name.lower() not in ("content-length", "connection")}

        body = b"".join(self._application(environment, start))
        return Reply(status=status, body=body, headers=headers)

    def call(self, service: str, operation: str, **arguments: Any) -> dict[str, Any]:
        """Make a call to moto on our own behalf; raises `RefusalError`."""
        request = write_request(service, operation, arguments, region=self.region)
        return read_reply(request, self.answer(request))
