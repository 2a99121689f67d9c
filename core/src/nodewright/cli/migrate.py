"""``nodewright migrate``: from Cluster Autoscaler's set-up to values for our chart."""

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, ClassVar

from nodewright.api.command import Command
from nodewright.api.errors import ConfigurationError, Problem
from nodewright.cli.exit_status import ExitStatus
from nodewright.cli.output import JSON, TABLE, YAML, add_output, written

if TYPE_CHECKING:
    from nodewright.migration.documents import Document
    from nodewright.migration.migration import Migration

#: Parts of the answer as formats of their own, to pipe.
_VALUES, _CONFIG = "values", "config"
_TITLES = (
    ("by hand", "BY HAND: not carried over"),
    ("differs", "DIFFERS, on purpose"),
    ("check", "CHECK: carried over, if this is so"),
)
_HELP = """\
FILE is what your set-up is made of, in one file or several (- is standard input):
  values of Cluster Autoscaler's chart, also as `helm get values` prints them
  manifests: its Deployment, with whatever stands beside it
  an Application of Argo CD, a HelmRelease of Flux, a HelmChart of K3s and RKE2
  a bundle of Fleet, a Helmfile, a kustomization
  what `terraform show -json` prints
  after any of these, the files of values that it names

Exit status: 0 all is carried over, 3 something has to be done by hand, 1 the cluster can't be read, 2 wrong usage, \
or nothing in the input runs Cluster Autoscaler."""


class MigrateCommand(Command):
    """Prints values for our chart, what differs, and what to check."""

    examples: ClassVar[Mapping[str, str]] = {
        "nodewright migrate values.yaml": "what becomes of the values of Cluster Autoscaler's chart",
        "nodewright migrate --from-cluster -o values > values.yaml": "values for helm upgrade, from what runs",
        "helm get values ca -n kube-system | nodewright migrate - --release ca": "from a release, with its names",
    }

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare where the set-up is read, and what is printed."""
        parser.epilog = _HELP
        parser.add_argument("files", nargs="*", metavar="FILE", help="values, manifests, GitOps objects, or -")
        parser.add_argument("--from-cluster", action="store_true", help="read the Deployment and what is beside it")
        parser.add_argument("--kubeconfig", default="", metavar="FILE", help="the cluster to read from")
        parser.add_argument("--namespace", default="", help="of the release, or where to look in the cluster")
        parser.add_argument("--release", default="", metavar="NAME", help="of bare values; default: cluster-autoscaler")
        parser.add_argument("--image", default="", metavar="NAME:TAG", help="your image of Nodewright")
        add_output(parser, (TABLE, JSON, YAML, _VALUES, _CONFIG))

    def run(self, arguments: Namespace) -> int:
        """Print the migration. Raises `ConfigurationError` if nothing is found, or the input can't be read."""
        from nodewright.migration.setup import migrate

        if bool(arguments.files) == arguments.from_cluster:
            raise ConfigurationError(Problem(message="name files, or say --from-cluster", source="flags"))
        documents = (
            _from_cluster(arguments.kubeconfig, arguments.namespace)
            if arguments.from_cluster
            else _from_files(arguments.files)
        )
        migration = migrate(documents, release=arguments.release, namespace=arguments.namespace, image=arguments.image)
        print(_written(migration, arguments.output))
        if arguments.output in (_VALUES, _CONFIG):
            for each in migration.notes:
                print(f"{each.matter}: {each.place}: {each.text}", file=sys.stderr)
        return ExitStatus.DONE if migration.complete else ExitStatus.UNFINISHED


def _from_files(files: Sequence[str]) -> "list[Document]":
    from nodewright.config.document import read_file
    from nodewright.migration.documents import read_documents

    found = []
    for file in files:
        if file == "-":
            text = sys.stdin.buffer.read().decode("utf-8", "replace")
            found += read_documents(text, "standard input")
        else:
            found += read_documents(read_file(Path(file)), file)
    return found


def _from_cluster(kubeconfig: str, namespace: str) -> "list[Document]":
    """Return the Deployments of the cluster, and what stands beside those that run Cluster Autoscaler."""
    from nodewright.kube.transport import connect
    from nodewright.migration.deployments import DEFAULT_NAMESPACE, deployments_in

    transport = connect(kubeconfig=kubeconfig).read_only()

    def listed(group: str, kind: str, home: str) -> "list[Document]":
        place = f"/namespaces/{home}" if home else ""
        answer = json.loads(transport.get(f"{group}{place}/{kind.lower()}s"))
        version = group.removeprefix("/apis/").removeprefix("/api/")
        return [{"apiVersion": version, "kind": kind} | each for each in answer.get("items") or ()]

    try:
        deployments = listed("/apis/apps/v1", "Deployment", namespace)
        found = list(deployments_in(deployments))
        beside = [
            each
            for home in sorted({home for each in found for home in (each.namespace, DEFAULT_NAMESPACE)})
            for group, kind in (
                ("/api/v1", "ServiceAccount"),
                ("/api/v1", "ConfigMap"),
                ("/apis/policy/v1", "PodDisruptionBudget"),
            )
            for each in listed(group, kind, home)
        ]
    finally:
        transport.close()
    return [*(each.deployment for each in found), *beside]


def _written(migration: "Migration", form: str) -> str:
    if form == _VALUES:
        return _readable(migration.values)
    if form == _CONFIG:
        return migration.configuration.rstrip()
    return written(migration.as_data(), form) if form in (JSON, YAML) else _report(migration)


def _readable(values: "Document") -> str:
    from nodewright.cli.manifests import as_yaml

    return as_yaml([values]).removeprefix("---\n").rstrip()


def _report(migration: "Migration") -> str:
    from nodewright.cli.table import aligned, folded, screen_width
    from nodewright.migration.note import Matter

    release = migration.release
    begin = f"From {release.keeper} to the release {release.name} in {release.namespace}."
    parts = [folded(begin, screen_width())]
    for matter, title in _TITLES:
        rows = [(f"  {each.place}", each.text) for each in migration.of(Matter(matter))]
        if rows:
            parts.append(f"{title}\n{aligned(rows, width=screen_width())}")
    parts.append(f"VALUES (-o values prints them alone)\n{indent(_readable(migration.values), '  ')}")
    parts.append(f"CONFIGURATION (the flags in YAML; -o config)\n{indent(migration.configuration.rstrip(), '  ')}")
    parts.append("THEN\n" + "\n".join(f"  {each}" for each in release.steps))
    left = len(migration.of(Matter.HAND))
    parts.append("Everything is carried over." if not left else f"{left} to do by hand, named above.")
    return "\n\n".join(parts)
