"""Whatever happens, who lists and then watches knows in the end what there is."""

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nodewright.testing.clock import SteppedClock
from nodewright_fake.apiserver.server import ApiServer
from nodewright_fake.apiserver.store import Store

from .builders import Object, pod
from .raw import Raw

NAMES = st.sampled_from(["a", "b"])
SELECTORS: list[dict[str, str]] = [
    {},
    {"labelSelector": "color=red"},
    {"labelSelector": "color notin (red),color"},
    {"fieldSelector": "spec.nodeName="},
    {"fieldSelector": "metadata.name=a"},
    {"labelSelector": "!color", "fieldSelector": "spec.nodeName=n1"},
]
STEPS = st.one_of(
    st.tuples(st.just("create"), NAMES, st.sampled_from(["", "n1"])),
    st.tuples(st.just("paint"), NAMES, st.sampled_from(["red", "blue", ""])),
    st.tuples(st.just("bind"), NAMES, st.just("n1")),
    st.tuples(st.just("delete"), NAMES, st.just("")),
    st.tuples(st.just("break off"), st.just(""), st.just("")),
    st.tuples(st.just("compact"), st.just(""), st.just("")),
)


class Reflector:
    """A client's copy of what a selector shows, kept by list and watch as every Kubernetes client does it."""

    def __init__(self, server: ApiServer, selector: dict[str, str]) -> None:
        self._raw = Raw(server.url)
        self._selector = selector
        self.relist()

    def relist(self) -> None:
        body = self._raw.get("/api/v1/pods", limit=2, **self._selector).body
        items = body["items"]
        while token := body["metadata"].get("continue"):
            body = self._raw.get("/api/v1/pods", limit=2, continue_=token, **self._selector).body
            items += body["items"]
        self.known = {item["metadata"]["name"]: item for item in items}
        self._version = body["metadata"]["resourceVersion"]
        self.rewatch()

    def rewatch(self) -> None:
        query = {"allowWatchBookmarks": "true", "resourceVersion": self._version, **self._selector}
        self._events = self._raw.watch("/api/v1/pods", **query)

    def catch_up(self, server: ApiServer) -> None:
        """Follow the events up to a bookmark that is sent now; start over where the server has forgotten too much."""
        server.send_bookmarks()
        for event in self._events:
            if event["type"] == "ERROR":
                assert event["object"]["code"] == 410
                self.relist()
                server.send_bookmarks()
                continue
            metadata = event["object"]["metadata"]
            self._version = metadata["resourceVersion"]
            if event["type"] == "BOOKMARK":
                return
            assert (event["type"] != "ADDED") is (metadata["name"] in self.known)
            if event["type"] == "DELETED":
                del self.known[metadata["name"]]
            else:
                self.known[metadata["name"]] = event["object"]

    def close(self) -> None:
        self._raw.close()


def do(store: Store, step: str, name: str, value: str) -> None:
    found = store.find("pods", name, "default")
    if step == "create" and found is None:
        made = pod(name, node=value)
        made["metadata"]["labels"] = {}
        store.create("pods", made)
    elif found is not None and step == "paint":
        store.modify("pods", name, "default", lambda draft: paint(draft, value))
    elif found is not None and step == "bind":
        store.modify("pods", name, "default", lambda draft: draft["spec"].update(nodeName=value))
    elif found is not None and step == "delete":
        store.delete("pods", name, "default", grace_seconds=0)


def paint(draft: Object, color: str) -> None:
    draft["metadata"]["labels"] = {"color": color} if color else {}


def run(steps: list[tuple[str, str, str]], selector: dict[str, str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the reflector knows in the end, and what a list says then."""
    store = Store(SteppedClock())
    with ApiServer(store) as server:
        reflector = Reflector(server, selector)
        for step, name, value in steps:
            if step == "break off":
                reflector.catch_up(server)
                server.drop_watches()
                reflector.rewatch()
            elif step == "compact":
                server.compact()
            else:
                do(store, step, name, value)
        reflector.catch_up(server)
        known = reflector.known
        reflector.relist()
        reflector.close()
        return known, reflector.known


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
@given(steps=st.lists(STEPS, min_size=20, max_size=60), selector=st.sampled_from(SELECTORS))
def test_a_reflector_ends_with_what_a_list_shows(steps, selector) -> None:
    known, listed = run(steps, selector)

    assert known == listed
