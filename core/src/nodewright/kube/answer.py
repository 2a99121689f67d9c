"""Answers of the API server that are one object."""

from typing import Any

import msgspec

from nodewright.api.errors import ApiServerError


def object_in(answer: bytes) -> dict[str, Any]:
    """Return the object that *answer* is.

    It has ``metadata`` with a ``resourceVersion``, and its ``spec`` is a mapping if there is one. Raises
    `ApiServerError` for everything else, such as the page of a proxy that answers in place of the API server.
    """
    try:
        found = msgspec.json.decode(answer, type=dict[str, Any])
    except (msgspec.MsgspecError, RecursionError):
        raise _strange(answer) from None
    metadata, spec = found.get("metadata"), found.get("spec", {})
    versioned = isinstance(metadata, dict) and isinstance(metadata.get("resourceVersion"), str)
    if not versioned or not isinstance(spec, dict):
        raise _strange(answer)
    return found


def _strange(answer: bytes) -> ApiServerError:
    begin = " ".join(answer[:80].decode(errors="replace").split())
    return ApiServerError(
        f"the answer is no Kubernetes object: {begin!a}; is there a proxy before the API server that answers for it?"
    )
