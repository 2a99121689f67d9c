"""Who calls: the metadata server of a machine, the endpoint for tokens, and the check of tokens."""

from collections.abc import Mapping
from typing import Any

import msgspec

from nodewright_gce.testing.messages import RefusalError, Reply, Request

TOKEN = "ya29.double-nobody-may-see-this"
_ACCOUNT = "nodes@double.iam.gserviceaccount.com"
_FLAVOR = {"Metadata-Flavor": "Google"}


class Identity:
    """A machine's service account, and what the machine tells about itself."""

    def __init__(self, project: str, zone: str = "europe-west1-b") -> None:
        account = {
            "email": _ACCOUNT,
            "scopes": ["https://www.googleapis.com/auth/cloud-platform"],
            "aliases": ["default"],
        }
        root = "/computeMetadata/v1/"
        self._texts: Mapping[str, str] = {
            "/": "computeMetadata/",
            root: "instance/\nproject/\n",
            f"{root}project/project-id": project,
            f"{root}project/numeric-project-id": "100000000000",
            f"{root}instance/zone": f"projects/100000000000/zones/{zone}",
        }
        self._values: Mapping[str, Mapping[str, Any]] = {
            f"{root}instance/service-accounts/default/": account,
            f"{root}instance/service-accounts/default/token": _token(),
            f"{root}instance/service-accounts/{_ACCOUNT}/": account,
            f"{root}instance/service-accounts/{_ACCOUNT}/token": _token(),
        }

    def answer(self, request: Request) -> Reply:
        """Answer as the metadata server, or the endpoint for tokens, does."""
        path = request.call.name
        if request.call.resource == "oauth":
            return _json(_token())
        if path != "/" and request.headers.get("Metadata-Flavor") != "Google":
            return Reply(status=403, body=b"Missing Metadata-Flavor:Google header.", headers=_FLAVOR)
        if path in self._values:
            return _json(self._values[path])
        if path in self._texts:
            return Reply(body=self._texts[path].encode(), headers={**_FLAVOR, "Content-Type": "application/text"})
        return Reply(status=404, body=b"Not Found", headers=_FLAVOR)

    def check(self, request: Request) -> None:
        """Raise `RefusalError` unless a call has the token."""
        if request.headers.get("Authorization") != f"Bearer {TOKEN}":
            raise RefusalError(
                401, "authError", "Request had invalid authentication credentials. Expected OAuth 2 access token."
            )


def _token() -> Mapping[str, Any]:
    return {"access_token": TOKEN, "expires_in": 3599, "token_type": "Bearer"}


def _json(body: Mapping[str, Any]) -> Reply:
    return Reply(body=msgspec.json.encode(body), headers={**_FLAVOR, "Content-Type": "application/json"})
