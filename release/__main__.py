"""``python -m release VERSION --sign COMMAND``: versions, builds, checks and signs all distributions together.

Everything is done in a clone, so that a release that fails leaves nothing behind. Nothing is published.
"""

import argparse
import os
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from packaging.version import Version

from release import distributions
from release.distributions import run
from release.errors import ReleaseError
from release.stamping import checked_version, current_version, stamp


@dataclass(frozen=True, kw_only=True)
class Release:
    """A release that is being made in a clone of the repository."""

    root: Path
    work: Path
    version: Version
    environment: Mapping[str, str]

    @property
    def clone(self) -> Path:
        """The clone, in which everything is done."""
        return self.work / "clone"

    @property
    def built(self) -> Path:
        """What is going to be published."""
        return self.work / "built"

    @property
    def tag(self) -> str:
        """The tag of the release."""
        return f"v{self.version}"

    def git(self, *words: str | Path, root: Path | None = None) -> str:
        """Run git in the clone, or in *root*."""
        return run("git", *words, cwd=root or self.clone, environment=self.environment).strip()


def main() -> int:
    """Make a release, or say why there is none."""
    parser = argparse.ArgumentParser(prog="python -m release", description=__doc__)
    parser.add_argument("version", help="such as 0.2.0")
    parser.add_argument("--dry-run", action="store_true", help="do everything, and keep nothing of it")
    parser.add_argument(
        "--sign",
        metavar="COMMAND",
        help="signs: is run with the name of the file of checksums, beside which it writes a signature. Such as "
        "gpg --armor --detach-sign, or ssh-keygen -Y sign -n nodewright -f KEY, or cosign sign-blob --bundle FILE",
    )
    arguments = parser.parse_args()
    root = Path(__file__).resolve().parents[1]
    try:
        if not (arguments.sign or arguments.dry_run):
            raise ReleaseError("a release is signed: name the COMMAND for it with --sign, or try it with --dry-run")
        made = make(root, arguments.version, sign=arguments.sign, keep=not arguments.dry_run)
    except ReleaseError as error:
        print(f"release: {error}", file=sys.stderr)
        return 1
    print("\n".join(made))
    return 0


def make(root: Path, version: str, *, sign: str | None, keep: bool) -> Sequence[str]:
    """Make the release *version* of the clean tree *root*, and return what people should know of it."""
    with TemporaryDirectory(prefix="nodewright-release-") as work:
        release = _begin(root, Path(work), version)
        _commit(release)
        distributions.build(release.clone, release.built, release.environment)
        distributions.check(release.clone, release.built, release.version)
        fresh = release.work / "environment"
        distributions.try_out(release.built, fresh, release.environment)
        components = release.built / f"nodewright-{release.version}.cdx.json"
        distributions.list_components(fresh, components, release.environment)
        sums = distributions.write_checksums(release.built)
        if sign:
            _sign(sums, sign, release.environment)
        files = sorted(each.name for each in release.built.iterdir())
        if not keep:
            return [f"{release.tag} could be made of", *(f"  {name}" for name in files), "nothing was kept: a dry run"]
        _bring_back(release)
        return [
            f"{release.tag} is a commit and a tag, and dist/ has",
            *(f"  {name}" for name in files),
            f"publish it: git push --atomic origin HEAD {release.tag}; then upload dist/",
        ]


def _begin(root: Path, work: Path, text: str) -> Release:
    """Refuse what can't become a release; else clone the tree."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    version = checked_version(text, current_version(root))
    # The time of the commit goes into the archives: the same commit gives the same files.
    moment = run("git", "log", "-1", "--format=%ct", cwd=root, environment=environment).strip()
    environment["SOURCE_DATE_EPOCH"] = moment
    release = Release(root=root, work=work, version=version, environment=environment)
    if dirt := release.git("status", "--porcelain", root=root):
        raise ReleaseError(f"the tree is not clean: commit or remove\n{dirt}")
    if release.git("tag", "--list", release.tag, root=root):
        raise ReleaseError(f"there is a tag {release.tag} already: choose another version")
    release.git("clone", "--quiet", root, release.clone, root=work)
    release.built.mkdir()
    return release


def _commit(release: Release) -> None:
    """Stamp the version onto the clone, and commit and tag that as whoever makes the release."""
    day = datetime.fromtimestamp(int(release.environment["SOURCE_DATE_EPOCH"]), UTC).date()
    stamp(release.clone, release.version, day)
    sources = os.pathsep.join(map(str, (release.clone / "core/src", release.clone)))
    surface = (sys.executable, "-m", "docsite.surface", "--release")
    run(*surface, cwd=release.clone, environment={**release.environment, "PYTHONPATH": sources})
    for setting in ("user.name", "user.email", "user.signingkey", "gpg.format", "tag.gpgSign", "commit.gpgSign"):
        value = release.git("config", "--default", "", "--get", setting, root=release.root)
        if value:
            release.git("config", setting, value)
    release.git("commit", "--quiet", "--all", "--message", f"Release {release.version}")
    release.git("tag", "--annotate", release.tag, "--message", f"Nodewright {release.version}")


def _sign(sums: Path, command: str, environment: Mapping[str, str]) -> None:
    before = set(sums.parent.iterdir())
    run(*shlex.split(command), sums.name, cwd=sums.parent, environment=environment)
    if not set(sums.parent.iterdir()) - before:
        raise ReleaseError(f"{command} wrote no signature beside {sums.name}")


def _bring_back(release: Release) -> None:
    """Take commit, tag and files over into the tree, now that all went well."""
    release.git("fetch", "--quiet", release.clone, "HEAD", "tag", release.tag, root=release.root)
    release.git("merge", "--quiet", "--ff-only", release.tag, root=release.root)
    dist = release.root / "dist"
    shutil.rmtree(dist, ignore_errors=True)
    shutil.copytree(release.built, dist)


if __name__ == "__main__":
    sys.exit(main())
