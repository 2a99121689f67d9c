from nodewright.config.document import load
from nodewright.config.watch import keep_lasting

HEADER = "apiVersion: nodewright.dev/v1\nkind: Autoscaler\nproviders: [fake]\n"


def settings(text=""):
    return load(HEADER + text).settings


def test_what_a_process_took_up_at_its_start_is_kept_and_named() -> None:
    old = settings()
    new = settings("namespace: other\nserver: {snapshot: true}\nleaderElection: {enabled: false}\nseed: 7\n")
    kept, later = keep_lasting(new, old)
    assert set(later) == {"namespace", "server", "leaderElection"}
    assert kept == settings("seed: 7\n")


def test_everything_else_changes_at_once() -> None:
    new = settings("status: {name: other}\nrecord: {path: r}\nmetrics: {perGroup: true}\n")
    assert keep_lasting(new, settings()) == (new, ())
