"""An AWS to try things out on: ``python -m nodewright_aws.testing``."""

import signal
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from threading import Event

from nodewright_aws.testing.double import AwsDouble

_TAG = "k8s.io/cluster-autoscaler/enabled"
_GUIDE = """\
An AWS in this process, with groups web, spot and gpu. Ctrl-C ends it.

In another terminal, let the SDK find credentials for it:

{exports}

Let Nodewright use it, with this in aws.yaml:

  apiVersion: nodewright.dev/v1
  kind: Autoscaler
  cluster: double
  providers:
    - aws:
        region: {region}
        discover: [{{tags: {{{tag}: null}}}}]
        endpoints: {{{endpoints}}}

Check the provider against the rules:

  nodewright conformance --provider aws --config aws.yaml --full --group web --poll 500ms
"""


def fill(double: AwsDouble, *, boot: float) -> None:
    """Make a few groups, whose machines run, or are gone, *boot* seconds after an order to launch or terminate."""
    tags = {_TAG: "true"}
    double.make_group("web", min_size=1, desired=1, max_size=8, tags=tags)
    double.make_group("spot", types=("m5.large", "m5a.large"), spot=True, desired=1, tags=tags)
    for instance_type, price in (("m5.large", 0.043), ("m5a.large", 0.039)):
        double.spot_price(instance_type, price)
    double.make_group("gpu", instance_type="g4dn.xlarge", tags=tags)
    double.boots(boot, stops=boot)


def guide(double: AwsDouble) -> str:
    """What people need to know to use *double*."""
    return _GUIDE.format(
        exports="\n".join(f"  export {name}={value}" for name, value in double.environment.items()),
        region=double.region,
        tag=_TAG,
        endpoints=", ".join(f'{service}: "{url}"' for service, url in double.config()["endpoints"].items()),
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve until Ctrl-C or SIGTERM."""
    parser = ArgumentParser(prog="python -m nodewright_aws.testing", description="An AWS to try things out on.")
    parser.add_argument("--port", type=int, default=0, metavar="P", help="port on 127.0.0.1; any free one if 0")
    parser.add_argument(
        "--boot", type=float, default=1.0, metavar="SECONDS", help="until machines run, or are gone (default: 1)"
    )
    asked = parser.parse_args(arguments)
    end = Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: end.set())
    with AwsDouble(port=asked.port) as double:
        fill(double, boot=asked.boot)
        sys.stdout.write(guide(double))
        sys.stdout.flush()
        end.wait()


if __name__ == "__main__":
    main()
