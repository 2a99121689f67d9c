"""The file of the record stays bounded and never stops anything."""

import json

from nodewright.record.files import RecordFile, parts_of


def numbers(path):
    return [json.loads(line)["number"] for line in path.read_text().splitlines()]


def test_a_full_file_is_put_aside_and_the_oldest_one_goes(tmp_path) -> None:
    file = RecordFile(tmp_path / "record", max_size=40, keep=2)
    for number in range(10):
        file.append({"number": number})
    assert [(path.name, numbers(path)) for path in parts_of(file.path)] == [
        ("record.2", [3, 4, 5]),
        ("record.1", [6, 7, 8]),
        ("record", [9]),
    ]


def test_with_none_to_keep_it_begins_anew(tmp_path) -> None:
    file = RecordFile(tmp_path / "record", max_size=40, keep=0)
    for number in range(4):
        file.append({"number": number})
    assert [(path.name, numbers(path)) for path in parts_of(file.path)] == [("record", [3])]


def test_a_failure_to_write_is_logged_once_and_it_goes_on_when_it_can(tmp_path, caplog) -> None:
    file = RecordFile(tmp_path / "folder" / "record", max_size=100, keep=1)
    file.append({"number": 1})
    file.append({"number": 2})
    (message,) = caplog.messages
    assert message.startswith(f"the record {file.path} can't be written, decisions are missing in it: ")
    file.path.parent.mkdir()
    file.append({"number": 3})
    assert numbers(file.path) == [3]
