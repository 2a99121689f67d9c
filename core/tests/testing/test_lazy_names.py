"""`nodewright.testing` has all it lists, and imports what is heavy when it is first used."""

import subprocess
import sys

import pytest
from nodewright import testing

HEAVY = ("nodewright.runtime", "nodewright.decision", "nodewright.kube", "numpy", "kubernetes")


def test_every_name_is_there() -> None:
    assert all(hasattr(testing, name) for name in testing.__all__)


def test_an_unknown_name_is_refused_as_by_any_module() -> None:
    with pytest.raises(AttributeError, match=r"'nodewright\.testing' has no attribute 'a_cloud'"):
        _ = testing.a_cloud


def test_the_import_stays_light() -> None:
    code = (
        "import sys, nodewright.testing\n"
        f"assert not [name for name in {HEAVY} if name in sys.modules]\n"
        "nodewright.testing.Harness\n"
        f"assert [name for name in {HEAVY} if name in sys.modules]\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
