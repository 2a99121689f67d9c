"""Looking up one object that is not watched."""

from urllib.parse import quote

import msgspec

from nodewright.kube.list_watch import read_page
from nodewright.kube.transport import Transport
from nodewright.objects import Pod


def find_pod(transport: Transport, key: str) -> Pod | None:
    """Return the pod ``namespace/name`` as the API server has it now, also if it has ended; None if there is none.

    A list of one needs no right but that to list pods. Raises what the transport raises.
    """
    namespace, _, name = key.partition("/")
    if not namespace or not name:
        return None
    query = {"fieldSelector": f"metadata.name={name}"}
    page = read_page(transport.get(f"/api/v1/namespaces/{quote(namespace, safe='')}/pods", query))
    return next((msgspec.json.decode(raw, type=Pod) for raw in page.items or ()), None)
