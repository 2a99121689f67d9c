"""What the container file says is what works: as nobody, and where nothing can be written."""

import json
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest
from nodewright import __version__
from nodewright.testing.clock import FastClock
from nodewright_fake.scenario import parse_scenario
from nodewright_fake.world import World
from packaging.requirements import Requirement

from tests.deploy.conftest import ROOT, container, only
from tests.end_to_end.scenarios import a_group, a_scenario

FILE = (ROOT / "deploy/Containerfile").read_text()
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


def test_building_without_a_name_tells_how_it_is_used() -> None:
    done = subprocess.run([ROOT / "deploy/image"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (2, "usage: deploy/image ARCHIVE [PLUGIN...]\n")


def test_everything_that_is_copied_is_there_and_not_ignored() -> None:
    sources = [word for text in of("COPY") if "--from" not in text for word in text.split()[:-1]]
    assert sources == ["core", "plugins", "deploy/install", "deploy/tools.lock", "deploy/remove_installers.py"]
    ignore = (ROOT / "deploy/Containerfile.dockerignore").read_text()
    kept = [line[1:] for line in ignore.splitlines() if line[0] == "!"]
    assert kept == sources
    assert all((ROOT / source).exists() for source in sources)
    assert os.access(ROOT / "deploy/install", os.X_OK)


def test_plugins_that_are_installed_by_default_are_there() -> None:
    (plugins,) = re.findall(r'ARG PLUGINS="(.*)"', FILE)
    assert all((ROOT / "plugins" / name / "pyproject.toml").exists() for name in plugins.split())


def test_the_last_stage_has_no_installer_and_is_nobody() -> None:
    last = STAGES[-1]
    assert len(STAGES) == 2
    (remove,) = of("RUN", last)
    assert json.loads(remove)[1:] == ["/opt/nodewright/remove_installers.py", "/usr", "/usr/local"]
    assert of("USER", last) == ["65532:65532"]
    assert of("ENTRYPOINT", last) == ['["nodewright", "run"]']
    assert "apt-get" not in FILE


def test_the_base_is_named_by_digest() -> None:
    (base,) = re.findall("^ARG BASE=(.*)", FILE, re.MULTILINE)
    assert re.fullmatch(r"[\w./:-]+@sha256:[0-9a-f]{64}", base)
    assert re.findall("^FROM (\\S+)", FILE, re.MULTILINE) == ["${BUILDER}", "${BASE}"]


@pytest.mark.parametrize("project", [ROOT / "core", *ROOT.glob("plugins/*/")], ids=lambda project: project.name)
def test_what_is_installed_is_locked_with_hashes(project) -> None:
    lock = (project / "requirements.lock").read_text()
    pins = re.findall(r"^([\w.-]+)==\S+.*((?:\n    --hash=sha256:[0-9a-f]{64}(?: \\)?)+)", lock, re.MULTILINE)
    assert {name for name, _ in pins} == set(re.findall(r"^([a-z][\w.-]*)", lock, re.MULTILINE))
    told = tomllib.loads((project / "pyproject.toml").read_text())["project"]["dependencies"]
    own = {Requirement(each).name for each in told} - {"nodewright"}
    assert own <= {name for name, _ in pins}


def test_installers_are_removed_below_the_prefix_given_and_nothing_else(tmp_path) -> None:
    library = tmp_path / "prefix/lib/python3.13"
    gone = [library / "ensurepip", library / "site-packages/pip", library / "site-packages/pip-26.1.dist-info"]
    kept = [library / "json", library / "site-packages/pipe", tmp_path / "other/lib/python3.13/ensurepip"]
    for folder in (*gone, *kept, tmp_path / "prefix/bin"):
        folder.mkdir(parents=True)
    for name in ("pip", "pip3.13", "python3"):
        (tmp_path / "prefix/bin" / name).write_text("")
    script = ROOT / "deploy/remove_installers.py"
    subprocess.run([sys.executable, script, tmp_path / "prefix"], check=True)
    assert [folder for folder in gone if folder.exists()] == []
    assert [folder for folder in kept if not folder.exists()] == []
    assert [program.name for program in (tmp_path / "prefix/bin").iterdir()] == ["python3"]


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


def scale(folder, command) -> tuple[str, str, str]:
    """Let *command*, which reads ``nodewright.yaml`` and ``kubeconfig`` in *folder*, order a node for two pods.

    Returns its status and its mounts, as the kernel tells them, and what it told.
    """
    with World(parse_scenario(a_scenario(a_group("pool", max=5, bootTime="0s"), replicas=2)), FastClock()) as world:
        (folder / "nodewright.yaml").write_text(
            "apiVersion: nodewright.dev/v1\nkind: Autoscaler\nserver: {address: '127.0.0.1:0'}\n"
            f"providers: [fake: {{url: '{world.provider_config['url']}'}}]\n"
        )
        (folder / "kubeconfig").write_bytes(world.kubeconfig.read_bytes())
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
    assert process.returncode == 0
    return status, mounts, told


@pytest.mark.install
@pytest.mark.timeout(400)
@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("setpriv") is None, reason="only root can become nobody")
def test_it_scales_as_nobody_where_nothing_can_be_written(folder, image) -> None:
    assert writable(image) == []
    assert not list(image.glob("lib/*/site-packages/pip"))
    (folder / "root").mkdir()
    program = ["env", "--chdir", image / "bin", "PYTHONDONTWRITEBYTECODE=1", "./cluster-autoscaler", "--v=4"]
    flags = [f"--config={folder}/nodewright.yaml", f"--kubeconfig={folder}/kubeconfig"]
    command = ["unshare", "--mount", "sh", "-c", NOBODY, "sh", folder / "root", *program, *flags]
    status, mounts, told = scale(folder, command)
    assert re.search(r"^Uid:\t65532\t65532\t65532\t65532$", status, re.MULTILINE)
    assert re.search(r"^CapBnd:\t0+$", status, re.MULTILINE)
    assert mounts.splitlines()[0].split()[3].startswith("ro")
    assert "grow pool 0 → 1 for 2 pods" in told
    assert "WARNING" not in told


#: Makes the folder $1, with $2 as its /etc/nodewright, the root of the rest, which runs in $3 as the user of the image.
CONTAINED = """
set -e
mount --make-rprivate /
mount --bind "$1" "$1"
mount --bind "$2" "$1/etc/nodewright"
mount -t proc proc "$1/proc"
mount -o remount,bind,ro "$1"
root=$1
place=$3
shift 3
exec setpriv --inh-caps=-all --no-new-privs \\
  unshare --root="$root" --wd="$place" --setgid=65532 --setuid=65532 "$@"
"""


@pytest.fixture
def archive(folder):
    """The image itself, as an archive, with the embedded world's plugin."""
    missing = [tool for tool in ("buildah", "mmdebstrap", "git") if shutil.which(tool) is None]
    if missing:
        pytest.skip(f"building an image needs {' and '.join(missing)}")
    done = subprocess.run([ROOT / "deploy/image", folder / "image.tar", "fake"], capture_output=True, text=True)
    if "Operation not permitted" in done.stderr:
        pytest.skip(f"no image can be built here: {done.stderr}")
    assert done.returncode == 0, done.stderr
    return folder / "image.tar"


def unpack(archive: Path, into: Path) -> dict[str, Any]:
    """Unpack an image's layers as its root, and return its configuration."""
    with tarfile.open(archive) as outer:

        def blob(digest: str) -> Any:
            return outer.extractfile(f"blobs/{digest.replace(':', '/')}")

        (manifest,) = json.load(outer.extractfile("index.json") or pytest.fail("the archive has no index"))["manifests"]
        told = json.load(blob(manifest["digest"]))
        for layer in told["layers"]:
            with tarfile.open(fileobj=blob(layer["digest"])) as files:
                files.extractall(into, filter="fully_trusted")
        return dict(json.load(blob(told["config"]["digest"])))


@pytest.mark.install
@pytest.mark.timeout(600)
@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("setpriv") is None, reason="only root can become nobody")
def test_an_image_is_built_without_a_daemon_and_scales(folder, archive) -> None:
    root, settings = folder / "root", folder / "settings"
    image = unpack(archive, root)
    config = image["config"]
    assert config["User"] == "65532:65532"
    assert config["Labels"]["org.opencontainers.image.version"] == __version__
    assert not any((root / "usr/bin" / name).exists() for name in ("sh", "bash", "pip", "pip3", "perl", "apt-get"))
    # A container gets devices of its own.
    assert [path for path in writable(root) if path != root / "tmp" and root / "dev" not in path.parents] == []
    components = json.loads((root / "opt/nodewright/sbom.cdx.json").read_text())
    assert {"nodewright", "nodewright-fake", "numpy"} <= {each["name"] for each in components["components"]}
    assert {path.name for path in (root / "var/lib/dpkg/status.d").iterdir()} >= {"libc6", "python3-minimal"}

    settings.mkdir()
    (root / "etc/nodewright").mkdir()
    variables = dict(each.split("=", 1) for each in config["Env"])
    entry = [f"/opt/nodewright/bin/{config['Entrypoint'][0]}", *config["Entrypoint"][1:]]
    inside = ["unshare", "--mount", "env", "--ignore-environment", *config["Env"][1:], f"PATH={os.environ['PATH']}"]
    command = [*inside, "sh", "-c", CONTAINED, "sh", root, settings, config["WorkingDir"]]
    flags = ["--config=/etc/nodewright/nodewright.yaml", "--kubeconfig=/etc/nodewright/kubeconfig"]
    version = subprocess.run([*command, entry[0], "--version"], capture_output=True, text=True)
    assert version.stdout == f"nodewright {__version__}\n", version.stderr
    assert variables["PATH"].startswith("/opt/nodewright/bin:")
    status, mounts, told = scale(settings, [*command, *entry, "--v=4", *flags])
    assert re.search(r"^Uid:\t65532\t65532\t65532\t65532$", status, re.MULTILINE)
    assert re.search(r"^CapEff:\t0+$", status, re.MULTILINE)
    assert mounts.splitlines()[0].split()[3].startswith("ro")
    assert "grow pool 0 → 1 for 2 pods" in told
    size = sum(path.stat().st_size for path in root.rglob("*") if path.is_file() and not path.is_symlink())
    assert size < 350e6
