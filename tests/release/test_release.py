"""A release is of a clean tree and of all distributions together, checked and signed, or it is none."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
from datetime import date
from pathlib import Path
from zipfile import ZipFile

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from packaging.version import Version

from release import distributions
from release.distributions import check
from release.errors import ReleaseError
from release.stamping import checked_version, closed, current_version, stamp

ROOT = Path(__file__).resolve().parents[2]
FILES = ("core", "plugins", "examples", "deploy", "docs", "CHANGELOG.md")


def run(*command: str | Path, cwd: Path, status: int = 0) -> str:
    """Run *command*, expect *status*, and return all that it printed."""
    done = subprocess.run(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert done.returncode == status, done.stdout
    return done.stdout


@pytest.fixture
def clone(tmp_path):
    """A clone of this repository, as its files are now, with somebody who may commit."""
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("this is no clone of git")
    place = tmp_path / "clone"
    run("git", "clone", "--quiet", ROOT, place, cwd=tmp_path)
    for name in run("git", "ls-files", "--modified", cwd=ROOT).splitlines():
        if (ROOT / name).exists():
            shutil.copy(ROOT / name, place / name)
    for setting, value in (("user.name", "Ada"), ("user.email", "ada@example.com"), ("commit.gpgSign", "false")):
        run("git", "config", setting, value, cwd=place)
    run("git", "commit", "--quiet", "--all", "--allow-empty", "--message", "As it is", cwd=place)
    return place


def release(clone: Path, *words: str | Path, status: int = 0) -> str:
    """Run the release script of *clone*."""
    return run(sys.executable, "-m", "release", *words, cwd=clone, status=status)


def test_a_tree_with_changes_is_refused_and_they_are_named(clone) -> None:
    (clone / "note.txt").write_text("to do\n")
    told = release(clone, "0.2.0", "--dry-run", status=1)
    assert told.startswith("release: the tree is not clean")
    assert "?? note.txt" in told


def test_a_version_that_has_a_tag_is_refused(clone) -> None:
    run("git", "tag", "v0.2.0", cwd=clone)
    assert "there is a tag v0.2.0 already" in release(clone, "0.2.0", "--dry-run", status=1)


def test_a_release_without_a_signature_is_refused(clone) -> None:
    assert "a release is signed" in release(clone, "0.2.0", status=1)


@pytest.mark.parametrize("text", ["two", "0.2", "v0.2.0", "0.02.0", "0.0.9"])
def test_what_is_no_next_version_is_refused(text) -> None:
    with pytest.raises(ReleaseError, match=re.escape(text)):
        checked_version(text, Version("0.1.0"))


def test_the_open_section_of_the_changelog_becomes_that_of_the_version() -> None:
    before = "# Changes\n\n## Unreleased\n\n- New.\n\n## 0.1.0 (2026-01-01)\n\n- Old.\n"
    assert closed(before, Version("0.2.0"), date(2026, 11, 22)) == (
        "# Changes\n\n## Unreleased\n\n## 0.2.0 (2026-11-22)\n\n- New.\n\n## 0.1.0 (2026-01-01)\n\n- Old.\n"
    )


@pytest.mark.parametrize("text", ["## Unreleased\n\n## 0.1.0 (2026-01-01)\n\n- Old.\n", "## 0.1.0 (2026-01-01)\n"])
def test_a_release_of_nothing_is_refused(text) -> None:
    with pytest.raises(ReleaseError, match="tells nothing under Unreleased"):
        closed(text, Version("0.2.0"), date(2026, 11, 22))


def test_the_version_is_set_everywhere(tmp_path) -> None:
    for name in FILES:
        source = ROOT / name
        shutil.copytree(source, tmp_path / name) if source.is_dir() else shutil.copy(source, tmp_path / name)
    old = re.escape(str(current_version(ROOT)))
    stamp(tmp_path, Version("7.8.9"), date(2026, 11, 22))
    assert current_version(tmp_path) == Version("7.8.9")
    for project in distributions.projects(tmp_path):
        (package,) = project.glob("src/*/__init__.py")
        assert '__version__ = "7.8.9"' in package.read_text()
        assert not re.search(rf"nodewright[^\n]*{old}", (project / "pyproject.toml").read_text())
    assert 'nodewright>=7.8.9,<7.9"' in (tmp_path / "plugins/aws/pyproject.toml").read_text()
    for file in ("deploy/chart/Chart.yaml", "core/src/nodewright/cli/manifests.yaml"):
        assert not re.search(rf'(?:[vV]ersion: |nodewright:)"?{old}', (tmp_path / file).read_text())


def a_built_tree(folder: Path) -> tuple[Path, Path]:
    """Return a tree of one small distribution, and a folder with its wheel and its sdist."""
    root, built = folder / "root", folder / "built"
    package = root / "core/src/nodewright"
    package.mkdir(parents=True)
    built.mkdir()
    (root / "core/pyproject.toml").write_text('[project]\nname = "nodewright"\n')
    (package / "__init__.py").write_text('__version__ = "0.2.0"\n')
    with ZipFile(built / "nodewright-0.2.0-py3-none-any.whl", "w") as wheel:
        for name in ("nodewright/__init__.py", "nodewright/py.typed", "nodewright-0.2.0.dist-info/licenses/LICENSE"):
            wheel.writestr(name, "")
        wheel.writestr("nodewright-0.2.0.dist-info/METADATA", "Name: nodewright\nVersion: 0.2.0\n")
    with tarfile.open(built / "nodewright-0.2.0.tar.gz", "w:gz") as sdist:
        for name in ("PKG-INFO", "pyproject.toml", "README.md", "LICENSE"):
            sdist.add(root / "core/pyproject.toml", f"nodewright-0.2.0/{name}")
    return root, built


def test_distributions_that_have_all_they_should_pass(tmp_path) -> None:
    check(*a_built_tree(tmp_path), Version("0.2.0"))


@pytest.mark.parametrize("name", ["tests/test_it.py", "nodewright/.env", "nodewright/key.pem"])
def test_a_wheel_with_what_is_not_its_own_is_refused(tmp_path, name) -> None:
    root, built = a_built_tree(tmp_path)
    with ZipFile(built / "nodewright-0.2.0-py3-none-any.whl", "a") as wheel:
        wheel.writestr(name, "")
    with pytest.raises(ReleaseError, match=f"should not have {name}"):
        check(root, built, Version("0.2.0"))


def test_a_wheel_without_one_of_its_modules_is_refused(tmp_path) -> None:
    root, built = a_built_tree(tmp_path)
    (root / "core/src/nodewright/lost.py").write_text("")
    with pytest.raises(ReleaseError, match=r"lacks nodewright/lost\.py"):
        check(root, built, Version("0.2.0"))


def test_a_distribution_that_was_not_built_is_named(tmp_path) -> None:
    root, built = a_built_tree(tmp_path)
    (built / "nodewright-0.2.0.tar.gz").unlink()
    with pytest.raises(ReleaseError, match=r"nodewright-0\.2\.0\.tar\.gz was not built"):
        check(root, built, Version("0.2.0"))


@pytest.mark.install
@pytest.mark.timeout(600)
@pytest.mark.skipif(not os.environ.get("NODEWRIGHT_RELEASE"), reason="takes a minute: set NODEWRIGHT_RELEASE=1")
def test_a_release_has_all_distributions_checked_and_signed(clone, tmp_path) -> None:
    if shutil.which("ssh-keygen") is None:
        pytest.skip("signing needs ssh-keygen")
    key = tmp_path / "key"
    run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key, cwd=tmp_path)
    told = release(clone, "0.2.0", "--sign", f"ssh-keygen -Y sign -n nodewright -f {key}")
    assert "git push --atomic origin HEAD v0.2.0" in told
    assert run("git", "status", "--porcelain", cwd=clone) == ""
    assert run("git", "log", "-1", "--format=%s %D", cwd=clone).startswith("Release 0.2.0 HEAD -> ")
    assert run("git", "describe", cwd=clone) == "v0.2.0\n"
    built = {path.name for path in (clone / "dist").iterdir()}
    names = [f"nodewright{each}-0.2.0" for each in ("", "_aws", "_fake", "_grpc", "_least_cost")]
    assert built >= {f"{name}{end}" for name in names for end in ("-py3-none-any.whl", ".tar.gz")}
    assert built >= {"SHA256SUMS", "SHA256SUMS.sig", "nodewright-0.2.0.cdx.json"}
    run("sha256sum", "--check", "--strict", "SHA256SUMS", cwd=clone / "dist")
    verify = ("ssh-keygen", "-Y", "check-novalidate", "-n", "nodewright", "-s", "SHA256SUMS.sig")
    sums = (clone / "dist/SHA256SUMS").read_bytes()
    assert subprocess.run(verify, cwd=clone / "dist", input=sums, capture_output=True).returncode == 0
    assert "## Unreleased\n\n## 0.2.0 (" in (clone / "CHANGELOG.md").read_text()
