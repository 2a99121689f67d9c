"""A Google Cloud to try things out on: ``python -m nodewright_gce.testing``."""

import signal
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from threading import Event

from nodewright_gce.testing.double import GceDouble

_GUIDE = """\
A Google Cloud in this process, with groups pool-web, pool-spot and pool-gpu. Ctrl-C ends it.

In another terminal, let google-auth find credentials for it:

{exports}

Let Nodewright use it, with this in gce.yaml:

  apiVersion: nodewright.dev/v1
  kind: Autoscaler
  cluster: double
  providers:
    - gce:
        project: {project}
        zones: [{zone}]
        discover: [{{namePrefix: pool-, min: 1, max: 8}}]
        endpoints: {{{endpoints}}}

Check the provider against the rules:

  nodewright conformance --provider gce --config gce.yaml --full --group pool-web --poll 500ms
"""


def fill(double: GceDouble, *, boot: float) -> None:
    """Make a few groups, whose machines run, or are gone, *boot* seconds after an order to make or delete them."""
    kube_env = {"AUTOSCALER_ENV_VARS": "os_distribution=ubuntu;os=linux;arch=amd64;node_labels=team=shop"}
    double.make_mig("pool-web", size=2, machine_type="e2-standard-4", kube_env=kube_env)
    double.make_mig("pool-spot", size=1, machine_type="n2-standard-8", spot=True, kube_env=kube_env)
    double.make_mig("pool-gpu", size=1, machine_type="g2-standard-4")
    double.boots(boot, stops=boot)


def guide(double: GceDouble) -> str:
    """What people need to know to use *double*."""
    return _GUIDE.format(
        exports="\n".join(f"  export {name}={value}" for name, value in double.environment.items()),
        project=double.project,
        zone=double.mig("pool-web").zones[0],
        endpoints=", ".join(f'{service}: "{url}"' for service, url in double.config()["endpoints"].items()),
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve until Ctrl-C or SIGTERM."""
    parser = ArgumentParser(prog="python -m nodewright_gce.testing", description="A Google Cloud to try things out on.")
    parser.add_argument("--port", type=int, default=0, metavar="P", help="port on 127.0.0.1; any free one if 0")
    parser.add_argument(
        "--boot", type=float, default=1.0, metavar="SECONDS", help="until machines run, or are gone (default: 1)"
    )
    asked = parser.parse_args(arguments)
    end = Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: end.set())
    with GceDouble(port=asked.port) as double:
        fill(double, boot=asked.boot)
        sys.stdout.write(guide(double))
        sys.stdout.flush()
        end.wait()


if __name__ == "__main__":
    main()
