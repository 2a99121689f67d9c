"""The report of a dry run: counts, node-hours, places, and an exit status for CI."""

import json

import pytest
from nodewright.cli.main import main
from nodewright.shadow.report import page, summarize


def line(minute, event="compared", **fields):
    return json.dumps({"event": event, "at": f"2026-11-01T{10 + minute // 60:02}:{minute % 60:02}:00Z", **fields})


def found(minute, kind, group="pool", **fields):
    return line(minute, findings=[{"kind": kind, "group": group, **fields}])


BEGAN = line(0, "began", cluster="prod", dryRun=True, format=1)
RECORD = [
    BEGAN,
    *(found(minute, "growth", lag=8.0) for minute in range(1, 8)),
    found(9, "removal", node="n1", lag=-6.0),
    found(10, "growth-group", "spot", ours="would grow 0 → 3 of pool", why="spot: another option was better",
          theirs="grew it by 5", machines=2),
    found(20, "removal-missing", node="n2", ours="would remove it", theirs="did not", lag=120.0),
    found(48, "late", node="n2", lag=1800.0),
    found(50, "removal-missing", node="n3", ours="would remove it", theirs="did not", lag=120.0),
    line(78, "ended", loops=468),
]  # fmt: skip


def report(lines, **options):
    return "\n".join(page(summarize(text.encode() for text in lines), **options))


def test_it_says_how_often_both_did_the_same_and_where_not() -> None:
    text = report(RECORD)
    assert "Shadow of prod: 1h 18m, 468 loops\n" in text
    assert "from 2026-11-01 10:00:00 to 2026-11-01 11:18:00 UTC\n" in text
    assert "The same                 8  72.7%\n" in text
    assert "  growth                 7  the same group grew by as much, they 8s later\n" in text
    assert "Different                3  27.3%\n" in text
    assert (
        "  spot  growth-group, 2026-11-01 10:10:00\n"
        "    we   would grow 0 → 3 of pool: spot: another option was better\n"
        "    they grew it by 5\n"
    ) in text
    assert "  pool  removal-missing, 2 times, last 2026-11-01 10:50:00\n    node n2, n3\n" in text


def test_it_says_what_the_differences_come_to() -> None:
    # n2 stayed from 10:18 to 10:48, n3 from 10:48 to the end at 11:18.
    assert "they ordered 2 machines that we would not have" in report(RECORD)
    assert "we would have saved 1.0 node-hours by removing nodes earlier" in report(RECORD)


def test_it_says_if_nothing_was_there_to_compare() -> None:
    assert "Nothing was there to compare: neither of the two did anything." in report([BEGAN])
    assert report([]) == "The record is empty: no loop has ended yet."


def test_lines_that_were_cut_off_are_counted_and_left_out() -> None:
    assert "1 lines of the record could not be read" in report([*RECORD, '{"event": "comp'])


def test_only_the_last_places_are_shown_unless_all_are_asked_for() -> None:
    text = report(RECORD, most=1)
    assert "Where they differ (the last 1 of 2; --all shows all)" in text
    assert "growth-group, 2026" not in text


@pytest.fixture
def record(tmp_path):
    def write(lines, name="record"):
        (tmp_path / name).write_text("\n".join(lines) + "\n")
        return str(tmp_path / "record")

    return write


def test_the_exit_status_says_whether_too_much_differs(record, capsys) -> None:
    path = record(RECORD)
    assert main(["shadow", "report", path]) == 1
    assert main(["shadow", "report", path, "--tolerate", "28"]) == 0
    assert main(["shadow", "report", path, "--last", "20m"]) == 0
    assert main(["shadow", "report", record(RECORD[:9])]) == 0
    capsys.readouterr()
    assert main(["shadow", "report", path + "-missing"]) == 2
    assert "there is no record" in capsys.readouterr().err
    assert main(["shadow", "report", record(["no json at all"])]) == 2
    assert "is not a record: none of its lines can be read" in capsys.readouterr().err


def test_the_record_of_an_autoscaler_that_acts_is_no_agreement(record, capsys) -> None:
    began = {"event": "began", "at": "2026-11-21T10:00:00Z", "cluster": "c", "dryRun": False}
    assert main(["shadow", "report", record([json.dumps(began)])]) == 2
    assert "is the record of an autoscaler that acts: name that of the dry run" in capsys.readouterr().err
    # Both may have written to the same file.
    assert main(["shadow", "report", record([json.dumps(began), *RECORD[:9]])]) == 0


def test_files_that_were_put_aside_are_read_as_well(record, capsys) -> None:
    record(RECORD[:5], "record.1")
    assert main(["shadow", "report", record(RECORD[5:9])]) == 0
    assert "The same                 8   100%" in capsys.readouterr().out
