"""What the container file says is what works: as nobody, and where nothing can be written."""

import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from pathlib import Path
from time import monotonic, sleep

import pytest
from nodewright.testing.clock import FastClock
from nodewright_fake.scenario import parse_scenario
from nodewright_fake.world import World

from tests.deploy.conftest import ROOT, container, only
from tests.end_to_end.scenarios import a_group, a_scenario

FILE = (ROOT / "deploy/Dockerfile").read_text()
STAGES = FILE.split("\nFROM ")[1:]
#: Mounts all that there is read-only under the folder $1 and runs the rest there as the user of the image.
NOBODY = """
set -e
mount --make-rprivate /
mount --rbind / "$1"
cut -d ' ' -f 2 /proc/self/mounts | grep "^$1" | while read -r place; do mount -o remount,bind,ro "$place"; done
root=$1
shift
exec chroot "$root" \\
  setpriv --reuid 65532 --regid 65532 --clear-groups --bounding-set=-all --inh-caps=-all --no-new-privs "$@"
"""


def of(name, stage=FILE):
    """What an instruction says, each time it is there."""
    return [text for word, text in re.findall(r"^([A-Z]+) (.*(?:\\\n.*)*)", stage, re.MULTILINE) if word == name]


def test_everything_that_is_copied_is_there_and_not_ignored() -> None:
    sources = [word for text in of("COPY") if "--from" not in text for word in text.split()[:-1]]
    assert sources == ["requirements-dev.lock", "core", "plugins", "deploy/install"]
    kept = [line[1:] for line in (ROOT / "deploy/Dockerfile.dockerignore").read_text().splitlines() if line[0] == "!"]
    assert kept == sources
    assert all((ROOT / source).exists() for source in sources)
    assert os.access(ROOT / "deploy/install", os.X_OK)


def test_plugins_that_are_installed_by_default_are_there() -> None:
    (plugins,) = re.findall(r'ARG PLUGINS="(.*)"', FILE)
    assert all((ROOT / "plugins" / name / "pyproject.toml").exists() for name in plugins.split())


def test_the_last_stage_has_no_installer_and_is_nobody() -> None:
    last = STAGES[-1]
    assert len(STAGES) == 2
    assert re.search(r"^RUN python -m pip uninstall .* pip \\$", last, re.MULTILINE)
    assert of("USER", last) == ["65532:65532"]
    assert of("ENTRYPOINT", last) == ['["nodewright", "run"]']
    assert "apt" not in FILE


def test_the_chart_runs_it_as_the_same_user_with_the_same_entry(render) -> None:
    objects = render()
    context = only(objects, "Deployment")["spec"]["template"]["spec"]["securityContext"]
    assert f"{context['runAsUser']}:{context['runAsGroup']}" == of("USER")[-1]
    assert "command" not in container(objects)


@pytest.fixture
def folder():
    """A folder that everybody can look into."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name)
        path.chmod(0o755)
        yield path


def for_everybody(program):
    """Whether all who are on this machine can run a program."""
    return all(folder.stat().st_mode & stat.S_IXOTH for folder in (program, *program.parents))


@pytest.fixture
def image(folder):
    """What is in the image, installed as it is there."""
    interpreters = [Path(sys.executable).resolve(), Path("/usr/bin/python3").resolve()]
    python = next((each for each in interpreters if each.exists() and for_everybody(each)), None)
    if python is None:
        pytest.skip("there is no Python that nobody can run")
    installed = folder / "nodewright"
    subprocess.run([ROOT / "deploy/install", installed, "fake"], check=True, env={**os.environ, "PYTHON": str(python)})
    return installed


def writable(folder):
    """Files and folders that somebody else than their owner could change."""
    return [path for path in folder.rglob("*") if not path.is_symlink() and path.stat().st_mode & stat.S_IWOTH]


@pytest.mark.install
@pytest.mark.timeout(400)
@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("setpriv") is None, reason="only root can become nobody")
def test_it_scales_as_nobody_where_nothing_can_be_written(folder, image) -> None:
    assert writable(image) == []
    assert not list(image.glob("lib/*/site-packages/pip"))
    with World(parse_scenario(a_scenario(a_group("pool", max=5, bootTime="0s"), replicas=2)), FastClock()) as world:
        (folder / "nodewright.yaml").write_text(
            "apiVersion: nodewright.dev/v1\nkind: Autoscaler\nserver: {address: '127.0.0.1:0'}\n"
            f"providers: [fake: {{url: '{world.provider_config['url']}'}}]\n"
        )
        (folder / "kubeconfig").write_bytes(world.kubeconfig.read_bytes())
        (folder / "root").mkdir()
        program = ["env", "--chdir", image / "bin", "PYTHONDONTWRITEBYTECODE=1", "./cluster-autoscaler", "--v=4"]
        flags = [f"--config={folder}/nodewright.yaml", f"--kubeconfig={folder}/kubeconfig"]
        command = ["unshare", "--mount", "sh", "-c", NOBODY, "sh", folder / "root", *program, *flags]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        try:
            until = monotonic() + 60
            while not world.store.list("nodes"):
                if process.poll() is not None:
                    _, told = process.communicate()
                    if "unshare" in told or "mount" in told:
                        pytest.skip(f"no file systems of its own here: {told}")
                    raise AssertionError(told)
                assert monotonic() < until, "no node came"
                sleep(0.1)
            status = Path(f"/proc/{process.pid}/status").read_text()
            mounts = Path(f"/proc/{process.pid}/mounts").read_text()
            process.send_signal(signal.SIGTERM)
            _, told = process.communicate(timeout=20)
        finally:
            process.kill()
            process.communicate()
    assert re.search(r"^Uid:\t65532\t65532\t65532\t65532$", status, re.MULTILINE)
    assert re.search(r"^CapBnd:\t0+$", status, re.MULTILINE)
    assert mounts.splitlines()[0].split()[3].startswith("ro")
    assert process.returncode == 0
    assert "grow pool 0 → 1 for 2 pods" in told
    assert "WARNING" not in told
