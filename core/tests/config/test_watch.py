import os

import pytest
from nodewright.api import ConfigurationError
from nodewright.config.flags import parse_flags
from nodewright.config.watch import ConfigFile


@pytest.fixture
def file(write):
    file = ConfigFile(write("seed: 1"), flags=parse_flags(["--v=3"]))
    assert file.load().settings.seed == 1
    return file


def test_a_file_that_stays_is_no_change(file) -> None:
    assert file.changed() is None
    os.utime(file.path, (0, 0))
    assert file.changed() is None


def test_a_change_is_told_once_with_the_flags_over_it(file, write) -> None:
    write("seed: 2\nlogging: {verbosity: 9}")
    changed = file.changed()
    assert (changed.settings.seed, changed.settings.logging.verbosity) == (2, 3)
    assert file.changed() is None


def test_a_change_within_one_tick_of_the_clock_and_of_the_same_length_is_seen(file, write) -> None:
    before = file.path.stat()
    write("seed: 2")
    os.utime(file.path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert file.changed().settings.seed == 2


def test_a_bad_change_is_refused_once_for_each_content(file, write) -> None:
    for content, line in (("seed: x", 3), ("\nseed: x", 4)):
        write(content)
        with pytest.raises(ConfigurationError) as caught:
            file.changed()
        assert str(caught.value) == f'{file.path}:{line}: seed: write a whole number, not "x"'
        assert file.changed() is None
    write("seed: 2")
    assert file.changed().settings.seed == 2


def test_going_back_to_what_is_in_use_is_no_change_and_the_same_mistake_is_told_again(file, write) -> None:
    write("seed: x")
    with pytest.raises(ConfigurationError):
        file.changed()
    write("seed: 1")
    assert file.changed() is None
    write("seed: x")
    with pytest.raises(ConfigurationError):
        file.changed()


def test_a_file_that_vanishes_is_told_once_and_may_come_back(file, write) -> None:
    file.path.unlink()
    with pytest.raises(ConfigurationError, match=r"nodewright\.yaml: can't be read: No such file or directory"):
        file.changed()
    assert file.changed() is None
    write("seed: 1")
    assert file.changed() is None


def test_a_configmap_is_swapped_by_a_symlink(tmp_path, write) -> None:
    """As a kubelet does it: the file is a link into ``..data``, which is a link that is renamed over."""
    header = "apiVersion: nodewright.dev/v1\nkind: Autoscaler\n"
    for version in (1, 2):
        (tmp_path / f"..{version}").mkdir()
        (tmp_path / f"..{version}" / "nodewright.yaml").write_text(f"{header}seed: {version}\n")
    (tmp_path / "..data").symlink_to("..1")
    (tmp_path / "nodewright.yaml").symlink_to("..data/nodewright.yaml")
    file = ConfigFile(tmp_path / "nodewright.yaml")
    assert file.load().settings.seed == 1
    (tmp_path / "..new").symlink_to("..2")
    (tmp_path / "..new").rename(tmp_path / "..data")
    assert file.changed().settings.seed == 2


def test_the_first_load_tells_all_problems_every_time(write) -> None:
    file = ConfigFile(write("seed: x"))
    for _ in range(2):
        with pytest.raises(ConfigurationError):
            file.load()
