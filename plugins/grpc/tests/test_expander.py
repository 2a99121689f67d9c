"""What the expander makes of servers and their answers, over real connections."""

import socket
import subprocess
import sys
from dataclasses import replace
from datetime import timedelta
from threading import Event
from time import monotonic

import pytest
from nodewright.api import PermanentError, TemporaryError
from nodewright.decision.decide import decide
from nodewright.decision.memory import Memory
from nodewright.testing import EPOCH, a_group, a_pod, an_expander_context, an_option
from nodewright.testing.worlds import a_policy, a_world
from nodewright_grpc.expander import Grpc

NOW = EPOCH + timedelta(hours=1)
OPTIONS = [an_option(name) for name in ("a", "b", "c")]


@pytest.fixture
def expander():
    """Makes expanders; all of them hang up at the end."""
    made = []

    def make(server="", **config):
        settings = {"url": getattr(server, "address", server), "insecure": "certificate" not in config, **config}
        made.append(Grpc(Grpc.Config.model_validate(settings)))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.fixture
def silent():
    """The address of somebody who takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"127.0.0.1:{listening.getsockname()[1]}"


def best(expander, options=OPTIONS, context=None):
    return [option.group.id for option in expander.best(options, context or an_expander_context())]


def decided(policy, now=NOW):
    pods = [a_pod("web")]
    decision, _, _ = decide(a_world(groups=[a_group(name) for name in "abc"], pods=pods), Memory(), policy, now)
    return decision


def test_the_server_chooses(serve, expander) -> None:
    server = serve(lambda groups: ["c", "a"])
    assert best(expander(server)) == ["a", "c"]
    assert server.questions == [["a", "b", "c"]]


def test_one_connection_serves_many_questions(serve, expander) -> None:
    server = serve(lambda groups: groups[-1:])
    asking = expander(server)
    assert [best(asking, OPTIONS[:count]) for count in (3, 2, 1)] == [["c"], ["b"], ["a"]]
    assert len(server.questions) == 3


def test_groups_that_were_not_offered_are_left_out_with_a_notice(serve, expander) -> None:
    context = an_expander_context()
    server = serve(lambda groups: ["x", "b", "x"])
    assert best(expander(server), context=context) == ["b"]
    assert [notice.message for notice in context.notices] == [
        f"{server.address} named groups that were not offered: 'x'"
    ]


def test_an_answer_of_unknown_groups_alone_keeps_all_options(serve, expander) -> None:
    context = an_expander_context()
    server = serve(lambda groups: [f"x{number}" for number in range(9)])
    assert best(expander(server), context=context) == ["a", "b", "c"]
    assert [notice.message for notice in context.notices] == [
        f"{server.address} named groups that were not offered: 'x0', 'x1', 'x2', 'x3', 'x4', ...; all options are kept"
    ]


def test_an_empty_answer_means_that_nothing_grows(serve, expander) -> None:
    server = serve(lambda groups: [])
    policy = a_policy(expanders={"grpc": expander(server)})
    decision = decided(policy)
    assert decision.grow == ()
    assert [notice.message for notice in decision.notices] == [
        f"{server.address} found none of 3 options acceptable: no group grows"
    ]
    assert not policy.faults.counts


def test_a_slow_server_is_waited_for_no_longer_than_the_timeout(serve, expander) -> None:
    enough = Event()
    server = serve(lambda groups: enough.wait(30) and groups)
    began = monotonic()
    try:
        with pytest.raises(TemporaryError, match=f"^the expander server {server.address} did not answer within 0.3 s$"):
            best(expander(server, timeout=0.3))
        assert 0.3 <= monotonic() - began < 3
    finally:
        enough.set()


def test_a_server_that_hangs_in_the_handshake_is_waited_for_no_longer_either(expander, silent) -> None:
    began = monotonic()
    with pytest.raises(TemporaryError, match=r"did not answer within 0\.3 s$"):
        best(expander(silent, timeout=0.3))
    assert 0.3 <= monotonic() - began < 3


def test_a_server_that_is_away_is_named_at_once(serve, expander) -> None:
    server = serve()
    server.stop()
    with pytest.raises(TemporaryError, match=f"^the expander server {server.address} can't be reached: .*refused"):
        best(expander(server))


def test_a_server_that_comes_back_is_asked_again_at_once(serve, expander) -> None:
    server = serve(lambda groups: ["a"])
    asking = expander(server)
    assert best(asking) == ["a"]
    server.stop()
    for _ in range(3):
        with pytest.raises(TemporaryError):
            best(asking)
    serve(lambda groups: ["b"], port=server.port)
    assert best(asking) == ["b"]


def test_a_server_that_answers_in_time_again_is_heard(serve, expander) -> None:
    enough, first = Event(), iter([True])
    server = serve(lambda groups: enough.wait(30) and ["a"] if next(first, False) else ["b"])
    asking = expander(server, timeout=1)
    try:
        with pytest.raises(TemporaryError, match="did not answer"):
            best(asking)
        assert best(asking) == ["b"]
    finally:
        enough.set()


def test_a_server_of_something_else_is_told_as_such(serve, expander) -> None:
    server = serve(service="other.Expander")
    with pytest.raises(TemporaryError) as failure:
        best(expander(server))
    assert str(failure.value) == (
        f"the expander server {server.address} does not implement /grpcplugin.Expander/BestOptions: "
        "it is no expander for Cluster Autoscaler (Method not found!)"
    )


def test_an_error_of_the_server_is_told_with_its_code(serve, expander) -> None:
    server = serve(lambda groups: 1 / 0)
    with pytest.raises(TemporaryError, match=r"answered with UNKNOWN: .*division by zero"):
        best(expander(server))


def test_an_answer_that_is_no_message_is_told(serve, expander) -> None:
    server = serve(lambda groups: b"\x0a\x09nonsense")
    with pytest.raises(TemporaryError) as failure:
        best(expander(server))
    assert str(failure.value) == f"the answer of {server.address} can't be read: it is cut off"


def test_tls_is_spoken_with_a_server_that_the_authority_vouches_for(serve, expander, authority) -> None:
    server = serve(lambda groups: ["b"], credentials=authority.credentials())
    assert best(expander(server, certificate=str(authority.certificate))) == ["b"]


def test_the_servers_own_certificate_will_do_as_for_cluster_autoscaler(serve, expander, authority) -> None:
    server = serve(lambda groups: ["b"], credentials=authority.credentials())
    own = authority.certificate.with_name("localhost.crt")
    assert best(expander(server, certificate=str(own))) == ["b"]


def test_a_server_that_nobody_vouches_for_is_not_asked(serve, expander, authority, another_authority) -> None:
    server = serve(credentials=authority.credentials())
    with pytest.raises(TemporaryError, match=r"can't be reached: .*CERTIFICATE_VERIFY_FAILED"):
        best(expander(server, certificate=str(another_authority.certificate)))
    assert server.questions == []


def test_a_server_without_tls_is_not_asked_in_the_clear(serve, expander, authority) -> None:
    server = serve()
    with pytest.raises(TemporaryError, match="can't be reached: "):
        best(expander(server, certificate=str(authority.certificate)))
    assert server.questions == []


def test_a_server_may_want_a_certificate_of_ours(serve, expander, authority) -> None:
    server = serve(lambda groups: ["b"], credentials=authority.credentials(clients_need_one=True))
    certificate, key = authority.issue("nodewright")
    ca = {"certificate": str(authority.certificate)}
    assert best(expander(server, **ca, clientCertificate=str(certificate), clientKey=str(key))) == ["b"]
    with pytest.raises(TemporaryError, match="can't be reached: "):
        best(expander(server, **ca))


def test_certificates_that_were_renewed_are_used_without_a_restart(
    serve, expander, authority, another_authority
) -> None:
    server = serve(lambda groups: ["a"], credentials=authority.credentials())
    asking = expander(server, certificate=str(authority.certificate))
    assert best(asking) == ["a"]
    server.stop()
    server = serve(lambda groups: ["b"], port=server.port, credentials=another_authority.credentials())
    with pytest.raises(TemporaryError, match="CERTIFICATE_VERIFY_FAILED"):
        best(asking)
    authority.certificate.write_bytes(another_authority.certificate.read_bytes())
    assert best(asking) == ["b"]


@pytest.mark.parametrize(
    ("content", "mistake"),
    [
        (None, "can't be read: No such file or directory"),
        (b"junk", "contains neither a certificate nor a key in PEM format"),
    ],
)
def test_a_certificate_file_of_no_use_is_named(expander, tmp_path, content, mistake) -> None:
    file = tmp_path / "ca.crt"
    if content:
        file.write_bytes(content)
    with pytest.raises(PermanentError) as refusal:
        best(expander("localhost:1", certificate=str(file)))
    assert str(refusal.value) == f"the certificate file {file} {mistake}"


def test_while_the_server_is_away_the_chain_goes_on_and_one_line_tells(serve, expander, caplog) -> None:
    server = serve()
    server.stop()
    policy = a_policy(expanders={"grpc": expander(server)})
    with caplog.at_level("INFO"):
        decisions = [decided(policy, NOW + timedelta(seconds=10 * loop)) for loop in range(5)]
    assert all(decision.grow and decision.answers[0].kept == ("a", "b", "c") for decision in decisions)
    assert policy.faults.counts == {("grpc", "best"): 5}
    (line,) = (record.getMessage() for record in caplog.records)
    assert line.startswith(f"plugin grpc failed in best: the expander server {server.address} can't be reached: ")


def test_a_decision_made_again_does_not_need_the_server(serve, expander) -> None:
    server = serve(lambda groups: ["x", "b"])
    policy = a_policy(expanders={"grpc": expander(server)})
    decision = decided(policy)
    server.stop()
    again = a_policy(expanders={"grpc": expander(server)})
    assert decided(replace(again, answers=decision.answers)) == decision
    assert [grow.group for grow in decision.grow] == ["b"]
    assert server.questions == [["a", "b", "c"]]


def test_grpc_is_loaded_when_somebody_is_asked_and_not_before() -> None:
    program = (
        "import sys, nodewright_grpc.expander as e; "
        "each = e.Grpc(e.Grpc.Config(url='localhost:1', insecure=True)); each.close(); "
        "print(sorted(name for name in sys.modules if name.split('.')[0] == 'grpc'))"
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout == "[]\n"


def test_grpc_writes_nothing_of_its_own_about_failures(serve, authority, another_authority) -> None:
    server = serve(credentials=authority.credentials())
    program = (
        "from nodewright.testing import an_expander_context, an_option; import nodewright_grpc.expander as e\n"
        f"each = e.Grpc(e.Grpc.Config(url='{server.address}', certificate='{another_authority.certificate}'))\n"
        "try: each.best([an_option()], an_expander_context())\n"
        "except Exception as error: print('failed:', type(error).__name__)\n"
        "each.close()"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (ended.stdout, ended.stderr) == ("failed: TemporaryError\n", "")
