"""The chart, rendered by Helm itself."""

import os
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
CHART = ROOT / "deploy/chart"
SCRIPTS = sysconfig.get_path("scripts")
HELM = shutil.which("helm", path=f"{SCRIPTS}{os.pathsep}{os.environ['PATH']}")


def helm(*words, status=0):
    """Run Helm and return what it printed; it must end with *status*."""
    if HELM is None:
        pytest.skip("helm is not installed")
    done = subprocess.run([HELM, *map(str, words)], capture_output=True, text=True)
    assert done.returncode == status, done.stderr
    return done.stdout if status == 0 else done.stderr


class Render:
    """Renders the chart with values."""

    def __init__(self, folder):
        self.folder = folder

    def values(self, text):
        """A file with the values *text*."""
        file = self.folder / "values.yaml"
        file.write_text(text)
        return file

    def __call__(self, values="cloudProvider: fake", *words, namespace="kube-system", release="nodewright"):
        file = self.values(values)
        text = helm("template", release, CHART, "--namespace", namespace, "--values", file, *words)
        return [each for each in yaml.safe_load_all(text) if each]

    def refused(self, values):
        """What Helm says about values that it does not take."""
        return helm("template", "nodewright", CHART, "--values", self.values(values), status=1)


@pytest.fixture
def render(tmp_path):
    return Render(tmp_path)


def only(objects, kind, name=""):
    """The one object of a kind (whose name ends so)."""
    (found,) = (each for each in objects if each["kind"] == kind and each["metadata"]["name"].endswith(name))
    return found


def container(objects):
    """The autoscaler's container."""
    (found,) = only(objects, "Deployment")["spec"]["template"]["spec"]["containers"]
    return found
