"""Credentials: from wherever google-auth knows them, and from the metadata server of the machine."""

import json
import os
import warnings
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import google.auth
from google.auth.credentials import Credentials, with_scopes_if_required
from google.auth.exceptions import DefaultCredentialsError, RefreshError, TransportError

from nodewright_gce.calls.cloud_config import CloudConfig
from nodewright_gce.calls.connections import Answer, Connections, LostError

if TYPE_CHECKING:
    from nodewright_gce.config.gce import GceConfig

#: Reading the billing catalogue takes a scope, but no permission.
SCOPES = (
    "https://www.googleapis.com/auth/compute",
    "https://www.googleapis.com/auth/cloud-billing.readonly",
)
_TIMEOUT = 10.0
_SERVER = "metadata.google.internal"


class Transport:
    """Sends google-auth's own requests, over our connections."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def __call__(
        self,
        url: str,
        method: str = "GET",
        body: bytes | str | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = None,
        **_: Any,
    ) -> Answer:
        """Send a request; raises `google.auth.exceptions.TransportError`."""
        data = body.encode() if isinstance(body, str) else body
        try:
            return self._connections.send(
                method, url, headers=headers or {}, body=data, timeout=min(timeout or _TIMEOUT, _TIMEOUT)
            )
        except LostError as error:
            raise TransportError(str(error)) from error


class MetadataServer:
    """What the machine, or GKE for a pod, tells of itself.

    google-auth can ask it, too, but only with the package requests, and at one address for the life of the process.
    """

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        host = os.environ.get("GCE_METADATA_HOST") or os.environ.get("GCE_METADATA_ROOT") or _SERVER
        self._url = f"http://{host}/computeMetadata/v1/"

    def read(self, path: str) -> str:
        """Return the text at *path*; raises `TransportError`."""
        answer = self._transport(self._url + path, headers={"metadata-flavor": "Google"}, timeout=3)
        if answer.status != 200:
            raise TransportError(f"the metadata server answers {path} with status {answer.status}")
        return answer.data.decode()


class MetadataCredentials(Credentials):
    """The service account of the machine, or of the pod with GKE's workload identity."""

    def __init__(self, server: MetadataServer) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._server = server

    def refresh(self, request: Any) -> None:
        """Ask for a token."""
        answer = self._server.read("instance/service-accounts/default/token")
        body = _read_token(answer, "the metadata server", "access_token", "expires_in")
        self.token = body["access_token"]
        self.expiry = datetime.now(UTC).replace(tzinfo=None) + timedelta(seconds=int(body["expires_in"]))


class TokenUrlCredentials(Credentials):
    """The tokens that a URL of ``gce.conf`` gives to *own* credentials."""

    def __init__(self, own: Credentials, url: str, body: str) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._own = own
        self._url = url
        self._body = body

    def refresh(self, request: Any) -> None:
        """Ask for a token."""
        headers = {"content-type": "application/json"}
        self._own.before_request(request, "POST", self._url, headers)
        answer = request(self._url, method="POST", body=self._body, headers=headers)
        if answer.status != 200:
            raise RefreshError(f"token-url answers with status {answer.status}")
        body = _read_token(answer.data, "token-url", "accessToken", "expireTime")
        self.token = body["accessToken"]
        self.expiry = datetime.fromisoformat(body["expireTime"]).astimezone(UTC).replace(tzinfo=None)


def open_credentials(
    settings: "GceConfig", cloud_config: CloudConfig, transport: Transport, metadata: MetadataServer
) -> tuple[Credentials, str]:
    """Return credentials, and the project that they name; raises an exception of google-auth."""
    path = settings.credentials or os.environ.get("GOOGLE_APPLICATION_CREDENTIALS") or _gcloud_file()
    if path:
        credentials, project = _read_file(path, transport)
    else:
        credentials, project = MetadataCredentials(metadata), ""
    if cloud_config.token_url:
        credentials = TokenUrlCredentials(credentials, cloud_config.token_url, cloud_config.token_body)
    if settings.impersonate:
        credentials = _impersonate(credentials, settings)
    return credentials, project


def _read_file(path: str, transport: Transport) -> tuple[Credentials, str]:
    if not Path(path).is_file():
        raise DefaultCredentialsError(f"there is no file {path}")
    with warnings.catch_warnings():
        # A file of any kind is what a user may name.
        warnings.simplefilter("ignore")
        try:
            credentials, project = google.auth.load_credentials_from_file(path, request=transport)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise DefaultCredentialsError(f"{path} is no file of credentials ({type(error).__name__})") from error
    # With scopes from the start, google-auth would ask another service for the project of federated credentials.
    return with_scopes_if_required(credentials, SCOPES), str(project or "")


def _gcloud_file() -> str:
    folder = os.environ.get("CLOUDSDK_CONFIG") or os.path.join(os.path.expanduser("~"), ".config", "gcloud")
    path = os.path.join(folder, "application_default_credentials.json")
    return path if os.path.isfile(path) else ""


def _impersonate(own: Credentials, settings: "GceConfig") -> Credentials:
    from google.auth.impersonated_credentials import Credentials as Impersonated

    endpoint = settings.endpoints.get("iam")
    account = settings.impersonate
    url = f"{endpoint}/v1/projects/-/serviceAccounts/{account}:generateAccessToken" if endpoint else None
    return Impersonated(own, target_principal=account, target_scopes=list(SCOPES), iam_endpoint_override=url)


def _read_token(data: str | bytes, where: str, *needed: str) -> dict[str, Any]:
    """Return an answer with what is *needed*; the message has nothing of it."""
    try:
        body = json.loads(data)
    except ValueError:
        body = None
    if not isinstance(body, dict) or not all(body.get(name) for name in needed):
        raise RefreshError(f"the answer of {where} is no token: {' and '.join(needed)} are missing")
    return body
