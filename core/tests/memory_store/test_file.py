"""Memory in a file is replaced as a whole and readable for its owner only."""

import pytest
from nodewright.api.errors import ConflictError, TemporaryError
from nodewright.memory_store.file import FileStore


def test_what_is_written_is_read_and_for_its_owner_only(tmp_path) -> None:
    store = FileStore(tmp_path / "memory.json")
    assert store.read() is None
    version = store.write(b"one", "")
    assert store.write(b"two", version) != version
    assert store.read().content == b"two"
    assert (tmp_path / "memory.json").stat().st_mode & 0o777 == 0o600
    assert [each.name for each in tmp_path.iterdir()] == ["memory.json"]


def test_a_file_that_someone_else_has_changed_is_not_replaced(tmp_path) -> None:
    store, other = FileStore(tmp_path / "memory.json"), FileStore(tmp_path / "memory.json")
    version = store.write(b"one", "")
    assert other.read().version == version
    other.write(b"theirs", version)
    with pytest.raises(ConflictError, match="was changed by someone else"):
        store.write(b"two", version)
    with pytest.raises(ConflictError):
        store.write(b"two", "")
    assert store.read().content == b"theirs"


def test_only_the_last_one_set_aside_is_kept(tmp_path) -> None:
    store = FileStore(tmp_path / "memory.json")
    store.set_aside(b"one")
    store.set_aside(b"two")
    assert (tmp_path / "memory.json.set-aside").read_bytes() == b"two"


def test_a_folder_that_is_not_there_is_named(tmp_path) -> None:
    store = FileStore(tmp_path / "nowhere" / "memory.json")
    with pytest.raises(TemporaryError, match=r"file .*nowhere/memory.json can't be written: No such file or directory"):
        store.write(b"one", "")
