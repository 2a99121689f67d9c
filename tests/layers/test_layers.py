"""The layer contracts in ``.importlinter`` bite: bad imports are added to a copy of the sources."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from importlinter.api import read_configuration

ROOT = Path(__file__).parents[2]
CONFIG = ROOT / ".importlinter"
SOURCES = [ROOT / "core" / "src", *sorted((ROOT / "plugins").glob("*/src"))]
PLUGINS = {package.name for source in SOURCES[1:] for package in source.glob("nodewright_*")}

#: Modules that are added to the copy, each against one contract.
BAD = {
    "nodewright_fake/cloud/bad.py": "from nodewright.memory_store import keeper",
    "nodewright_grpc/newcomer.py": "",
    "nodewright_least_cost/problem_of_rules.py": "import nodewright_fake",
    "nodewright/newcomer/__init__.py": "",
    "nodewright/strategies/bad.py": "def later():\n    import nodewright.cluster.columns",
    "nodewright/cluster/bad.py": "import nodewright.runtime",
    "nodewright/serve/bad.py": "import nodewright_aws",
    "nodewright/decision/bad.py": "import socketserver",
    "nodewright/decision/health/bad.py": "import nodewright.decision.scaleup",
    "nodewright_aws/calls/one.py": "import nodewright_aws.calls.other",
    "nodewright_aws/calls/other.py": "import nodewright_aws.calls.one",
    "nodewright_aws/pools_of_groups.py": "",
    "nodewright_aws/autoscaling/bad.py": "import nodewright_aws.provider",
    "nodewright_gce/calls/bad.py": "import nodewright_gce.migs.managed_group",
    "nodewright_gce/quotas.py": "",
}


def contracts():
    return {each["id"]: each for each in read_configuration(str(CONFIG))["contracts_options"]}


@pytest.fixture(scope="module")
def broken(tmp_path_factory):
    """What lint-imports says of the copy, by the name of each broken contract."""
    copy = tmp_path_factory.mktemp("sources")
    for source in SOURCES:
        shutil.copytree(source, copy, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    for path, text in BAD.items():
        (copy / path).parent.mkdir(exist_ok=True)
        (copy / path).write_text(f"{text}\n")
    done = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--config", CONFIG, "--no-cache"],
        cwd=copy,
        env={**os.environ, "PYTHONPATH": str(copy), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    parts = re.split(r"^(\S.*)\n-+\n", done.stdout.partition("Broken contracts")[2], flags=re.M)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.parametrize(
    ("contract", "told"),
    [
        ("plugins", r"nodewright_fake\.cloud\.bad -> nodewright\.memory_store"),
        ("strategies", r"nodewright\.strategies\.bad -> nodewright\.cluster\.columns"),
        ("floors", r"^- nodewright\.newcomer$"),
        ("floors", r"nodewright\.cluster\.bad -> nodewright\.runtime"),
        ("distributions", r"nodewright\.serve\.bad -> nodewright_aws"),
        ("distributions", r"nodewright_least_cost\.problem_of_rules -> nodewright_fake"),
        ("pure", r"nodewright\.decision\.bad -> socketserver"),
        ("decision", r"nodewright\.decision\.health\.bad -> nodewright\.decision\.scaleup"),
        ("grpc", r"^- nodewright_grpc\.newcomer$"),
        ("aws", r"^- nodewright_aws\.pools_of_groups$"),
        ("aws", r"nodewright_aws\.autoscaling\.bad -> nodewright_aws\.provider"),
        ("gce", r"nodewright_gce\.calls\.bad -> nodewright_gce\.migs"),
        ("gce", r"^- nodewright_gce\.quotas$"),
        ("circles", r"No cycles are allowed in nodewright_aws\.calls"),
    ],
)
def test_a_bad_import_breaks_the_contract(broken, contract, told) -> None:
    assert re.search(told, broken[contracts()[contract]["name"]], re.M)


def test_all_plugins_are_checked() -> None:
    roots = set(read_configuration(str(CONFIG))["session_options"]["root_packages"])
    assert roots == {"nodewright", *PLUGINS}
    assert set(re.findall(r"\w+", " ".join(contracts()["distributions"]["layers"]))) == roots


def test_the_core_the_decision_and_each_plugin_have_floors_on_which_every_module_is_placed() -> None:
    exhaustive = {each["containers"] for each in contracts().values() if each.get("exhaustive") == "True"}
    assert exhaustive == {"nodewright", "nodewright.decision", *PLUGINS}
