"""The status ConfigMap at the API server."""

from threading import Event

import pytest
from nodewright.kube.status import StatusText, StatusWriter
from nodewright_fake.apiserver.faults import Fault

NAME = "cluster-autoscaler-status"


def text(status, **annotations):
    return lambda: StatusText(annotations=annotations, data={"status": status})


@pytest.fixture
def found(server):
    return lambda: server.store.find("configmaps", NAME, "kube-system")


@pytest.fixture
def begin(transport):
    """Starts a writer of the ConfigMap."""
    begun = []

    def start():
        begun.append(StatusWriter(transport, "kube-system", NAME))
        return begun[-1]

    yield start
    for each in begun:
        each.close()


def verbs(server):
    """Records requests for ConfigMaps."""
    asked = []
    server.faults.append(lambda request: asked.append(request.verb) if "configmaps" in request.path else None)
    return asked


def test_it_is_made_if_it_is_absent_and_changed_from_then_on_without_reading_it_again(server, begin, found) -> None:
    asked, status = verbs(server), begin()
    assert status.uid() == ""
    for number in range(3):
        status.write(text(f"message {number}", at=str(number)))
        assert status.flush(10)
    assert (found()["data"], found()["metadata"]["annotations"]) == ({"status": "message 2"}, {"at": "2"})
    assert status.uid() == found()["metadata"]["uid"]
    assert asked == ["get", "create", "update", "update"]


def test_what_others_keep_in_it_stays(server, begin, found) -> None:
    metadata = {"name": NAME, "namespace": "kube-system", "labels": {"app": "x"}, "annotations": {"theirs": "1"}}
    server.store.create("configmaps", {"metadata": metadata, "data": {"theirs": "2", "status": "old"}})
    status = begin()
    status.write(text("new", ours="3"))
    assert status.flush(10)
    server.store.modify("configmaps", NAME, "kube-system", lambda it: it["data"].update(later="4"))
    status.write(text("newer", ours="5"))
    assert status.flush(10)
    assert found()["data"] == {"theirs": "2", "later": "4", "status": "newer"}
    assert found()["metadata"]["annotations"] == {"theirs": "1", "ours": "5"}
    assert found()["metadata"]["labels"] == {"app": "x"}


def test_it_is_created_again_after_a_deletion(server, begin, found) -> None:
    status = begin()
    status.write(text("one"))
    assert status.flush(10)
    first = status.uid()
    server.store.delete("configmaps", NAME, "kube-system")
    status.write(text("two"))
    assert status.flush(10)
    assert found()["data"] == {"status": "two"}
    assert status.uid() == found()["metadata"]["uid"] != first


def test_a_hanging_api_server_delays_nothing_and_only_the_latest_status_is_written(server, begin, found) -> None:
    held, release = Event(), Event()

    def wait(request):
        held.set()
        release.wait(10)

    server.faults.append(wait)
    status = begin()
    status.write(text("first"))
    assert held.wait(10)
    rendered = []
    for number in range(5):
        status.write(lambda number=number: (rendered.append(number), text(f"message {number}")())[1])
    assert not status.flush(0.01)
    release.set()
    assert status.flush(10)
    assert found()["data"] == {"status": "message 4"}
    assert rendered == [4]


def test_it_is_deleted_at_the_end_and_nothing_is_written_after_that(begin, found) -> None:
    status = begin()
    status.write(text("one"))
    assert status.flush(10)
    status.close()
    assert found() is None
    status.write(text("two"))
    assert status.flush(10)
    assert found() is None


def test_one_that_another_leader_has_written_to_since_stays(server, begin, found) -> None:
    mine, theirs = begin(), begin()
    for each, said in ((mine, "mine"), (theirs, "theirs")):
        each.write(text(said))
        assert each.flush(10)
    mine.close()
    assert found()["data"] == {"status": "theirs"}
    theirs.close()
    assert found() is None


def test_who_never_wrote_deletes_nothing(server, begin, found) -> None:
    server.store.create("configmaps", {"metadata": {"name": NAME, "namespace": "kube-system"}})
    begin().close()
    assert found() is not None


def test_a_missing_right_is_named_once_with_what_to_do_and_writing_goes_on_with_it(
    server, begin, found, caplog
) -> None:
    server.authorize = lambda request: "no" if request.verb == "create" else None
    status = begin()
    for number in range(3):
        status.write(text(f"message {number}"))
        assert status.flush(10)
    (told,) = caplog.messages
    assert 'cannot create resource "configmaps" in API group "" in the namespace "kube-system"' in told
    assert told.startswith('may not create configmaps: give the service account verb "create" on "configmaps"')
    assert found() is None
    server.authorize = None
    status.write(text("allowed"))
    assert status.flush(10)
    assert found()["data"] == {"status": "allowed"}


def test_a_fault_of_the_api_server_passes_with_the_next_write(server, begin, found) -> None:
    fault = Fault(status=500, message="no disk")
    server.faults.append(fault)
    status = begin()
    status.write(text("one"))
    assert status.flush(10)
    assert found() is None
    server.faults.remove(fault)
    status.write(text("two"))
    assert status.flush(10)
    assert found()["data"] == {"status": "two"}
