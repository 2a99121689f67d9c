"""Who may take a cloud's role: trust policies name the service account, and so its name must not change."""

from collections.abc import Iterator, Mapping
from typing import Any

from nodewright.migration.note import Note, check

#: Annotations of service accounts, and what they name.
_ROLES = {
    "eks.amazonaws.com/role-arn": "the role",
    "azure.workload.identity/client-id": "the identity",
    "iam.gke.io/gcp-service-account": "the account",
}


def trusts(annotations: Mapping[str, Any], *, namespace: str, account: str) -> Iterator[Note]:
    """Yield a note for each role that the service account *account* takes."""
    for key, what in _ROLES.items():
        if annotations.get(key):
            yield check(
                "rbac.serviceAccount.name",
                f"{what} {annotations[key]} trusts system:serviceaccount:{namespace}:{account}: the name stays",
            )
