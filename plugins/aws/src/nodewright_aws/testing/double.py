"""An AWS in this process: boto3 calls it over HTTP, and the test decides what goes wrong."""

from collections import Counter
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self, get_args

from nodewright.api import Clock
from nodewright.testing import FastClock

from nodewright_aws.config import Service
from nodewright_aws.pools import Lifecycle, Pool
from nodewright_aws.testing.backend import Moto
from nodewright_aws.testing.faults import Faults
from nodewright_aws.testing.group import Group, Machine
from nodewright_aws.testing.interruptions import Notice, notice_body
from nodewright_aws.testing.layer import Layer
from nodewright_aws.testing.messages import Request
from nodewright_aws.testing.recipes import Recipe
from nodewright_aws.testing.server import Server
from nodewright_aws.testing.supply import Shortage, Trouble
from nodewright_aws.testing.wire import read_reply, write_request

_KEY, _SECRET = "AKIADOUBLE0000000000", "nobody-may-see-this"


class AwsDouble:
    """An account and region of AWS: moto with a layer of faults in front, on the loopback interface.

    Use it as a context manager. It corrects moto: machines are pending until they are in service, launches fail and
    show as activities, sizes have limits, mixed instances policies and suspended processes take effect. Machines change
    state only with `settle`, or with the *clock* once `boots` was called. It neither reads nor changes the environment:
    clients get their credentials from `client`, or from `environment` if the test sets it. `reset` empties the account
    and keeps the server.
    """

    def __init__(self, *, region: str = "eu-west-1", clock: Clock | None = None, port: int = 0, seed: int = 0) -> None:
        self.region = region
        self.clock = clock or FastClock()
        self._seed = seed
        self._moto = Moto(region)
        self._layer = Layer(self._moto, self.clock, seed=seed)
        self._clients: dict[str, Any] = {}
        self._server = Server(lambda request: self._layer.serve(request), self.clock, port=port)

    def __enter__(self) -> Self:
        self._server.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for client in self._clients.values():
            client.close()
        self._server.stop()

    def reset(self) -> None:
        """Start anew: no groups, no faults, nothing counted."""
        with self._layer.lock:
            self._moto.forget()
            self._layer = Layer(self._moto, self.clock, seed=self._seed)

    @property
    def url(self) -> str:
        """The endpoint of all services."""
        return self._server.url

    @property
    def faults(self) -> Faults:
        """What goes wrong with calls."""
        return self._layer.faults

    @property
    def calls(self) -> Counter[tuple[str, str]]:
        """Calls over HTTP by service and operation, in boto3's names; each page is a call."""
        return self._layer.calls

    @property
    def requests(self) -> Sequence[Request]:
        """The latest of those calls."""
        return tuple(self._layer.requests)

    @property
    def account(self) -> str:
        """The account's number."""
        return self._moto.account

    @property
    def environment(self) -> Mapping[str, str]:
        """Variables with which the SDK of a process finds credentials for this account, and no others."""
        return {
            "AWS_ACCESS_KEY_ID": _KEY,
            "AWS_SECRET_ACCESS_KEY": _SECRET,
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_CONFIG_FILE": "/dev/null",
            "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
        }

    def config(self, **settings: Any) -> dict[str, Any]:
        """What to write under ``aws`` in YAML, besides *settings*."""
        return {"region": self.region, "endpoints": dict.fromkeys(get_args(Service), self.url), **settings}

    def client(self, service: str) -> Any:
        """A client of boto3 that does not retry; it is closed with the double."""
        import boto3
        from botocore.config import Config

        if service not in self._clients:
            self._clients[service] = boto3.session.Session(
                aws_access_key_id=_KEY, aws_secret_access_key=_SECRET, region_name=self.region
            ).client(service, endpoint_url=self.url, config=Config(retries={"total_max_attempts": 1}))
        return self._clients[service]

    def do(self, service: str, operation: str, **arguments: Any) -> dict[str, Any]:
        """Make a call as another user of the account: not counted, and without faults.

        In boto3's names; raises `RefusalError`.
        """
        request = write_request(service, operation, arguments, region=self.region)
        return read_reply(request, self._layer.answer(request))

    def shorten_pages(self, groups: int) -> None:
        """Return at most so many groups in one answer from now on, as AWS may: a caller asks for a maximum."""
        self._layer.shorten_pages(groups)

    def make_group(
        self,
        name: str,
        *,
        min_size: int = 0,
        max_size: int = 10,
        desired: int | None = None,
        instance_type: str = "m5.large",
        zones: Sequence[str] = (),
        tags: Mapping[str, str] | None = None,
        spot: bool = False,
        types: Sequence[str] = (),
        requirements: Mapping[str, Any] | None = None,
        on_demand_base: int = 0,
        on_demand_percent: int | None = None,
        launch_template: Mapping[str, Any] | None = None,
        launch_configuration: Mapping[str, Any] | None = None,
        settle: bool = True,
        **arguments: Any,
    ) -> Group:
        """Make a group, in the first zone of the region if none is given, with its machines in service.

        With *types* or *requirements* it has a mixed instances policy: all spot or all on demand unless a percentage
        is given. *launch_template*, or *launch_configuration* in its place, is additional data of either in boto3's
        form, and so are further *arguments* of the group.
        """
        recipe = Recipe(
            name=name,
            instance_type=instance_type,
            spot=spot,
            types=tuple(types),
            requirements=requirements,
            on_demand_base=on_demand_base,
            on_demand_percent=on_demand_percent,
            template=launch_template or {},
            configuration=launch_configuration,
        )
        if launch_configuration is not None:
            self.do("autoscaling", "create_launch_configuration", **recipe.launch_configuration())
        else:
            self.do("ec2", "create_launch_template", **recipe.launch_template())
        self.do(
            "autoscaling",
            "create_auto_scaling_group",
            AutoScalingGroupName=name,
            MinSize=min_size,
            MaxSize=max_size,
            DesiredCapacity=min_size if desired is None else desired,
            AvailabilityZones=list(zones) or [f"{self.region}a"],
            Tags=[
                {"ResourceId": name, "ResourceType": "auto-scaling-group", "PropagateAtLaunch": True, "Key": key}
                | {"Value": value}
                for key, value in (tags or {}).items()
            ],
            **recipe.source(),
            **arguments,
        )
        if settle:
            self.settle(name)
        return self.group(name)

    def make_node_group(
        self,
        cluster: str,
        name: str,
        *,
        labels: Mapping[str, str] | None = None,
        taints: Sequence[Mapping[str, str]] = (),
        **group: Any,
    ) -> Group:
        """Make a managed node group of EKS and its Auto Scaling group; *group* is as for `make_group`."""
        if cluster not in self.do("eks", "list_clusters")["clusters"]:
            role = f"arn:aws:iam::{self.account}:role/eks"
            self.do("eks", "create_cluster", name=cluster, roleArn=role, resourcesVpcConfig={"subnetIds": ["subnet-1"]})
        self.do(
            "eks",
            "create_nodegroup",
            clusterName=cluster,
            nodegroupName=name,
            subnets=["subnet-1"],
            nodeRole=f"arn:aws:iam::{self.account}:role/node",
            labels=dict(labels or {}),
            taints=[dict(taint) for taint in taints],
        )
        tags = {
            "eks:cluster-name": cluster,
            "eks:nodegroup-name": name,
            f"kubernetes.io/cluster/{cluster}": "owned",
            "k8s.io/cluster-autoscaler/enabled": "true",
            f"k8s.io/cluster-autoscaler/{cluster}": "owned",
            **group.pop("tags", {}),
        }
        return self.make_group(f"eks-{name}", tags=tags, **group)

    def group(self, name: str) -> Group:
        """A group's present sizes, machines and activities; raises `RefusalError`."""
        with self._layer.lock:
            self._layer.fleet.catch_up()
            return self._layer.fleet.group(name)

    def machines(self, group: str = "") -> list[Machine]:
        """The machines of a group, or all."""
        with self._layer.lock:
            self._layer.fleet.catch_up()
            return [machine for machine in self._layer.fleet.machines() if group in ("", machine.group)]

    def settle(self, *groups: str) -> None:
        """Finish everything that is under way in *groups*, or in all: launches, terminations, retries."""
        with self._layer.lock:
            self._layer.fleet.settle(groups or None)

    def boots(self, seconds: float | None, *, stops: float | None = None, news: float = 0) -> None:
        """Let machines come into service *seconds* after they were ordered, by the clock.

        They are gone *stops* seconds after they were terminated. None waits for `settle`. A failed launch shows *news*
        seconds later.
        """
        fleet = self._layer.fleet
        fleet.boot_seconds, fleet.stop_seconds, fleet.news_seconds = seconds, stops, news

    def lags(self, seconds: float) -> None:
        """Let clients see groups as they were *seconds* ago, by the clock; all else is current."""
        with self._layer.lock:
            self._layer.replica.seconds = seconds
            self._layer.replica.look()

    def run_out(
        self,
        pools: str = "*",
        *,
        groups: str = "*",
        trouble: Trouble = Trouble.STOCK_OUT,
        available: int = 0,
        message: str = "",
        silent: bool = False,
    ) -> Shortage:
        """Let launches fail from *pools* such as ``eu-west-1a/m5.large`` or ``*/spot``, for *groups* of such names.

        So many machines are still *available*; a *silent* shortage shows in no activity.
        """
        return self._layer.fleet.supply.add(
            Shortage(pools=pools, groups=groups, trouble=trouble, available=available, message=message, silent=silent)
        )

    def restock(self) -> None:
        """End all shortages."""
        self._layer.fleet.supply.clear()

    def warm(self, group: str, count: int, *, state: str = "Warmed:Stopped") -> list[Machine]:
        """Put machines into the warm pool of a group."""
        with self._layer.lock:
            return self._layer.fleet.warm(self.group(group), count, state)

    def spot_price(self, instance_type: str, price: float, *, zone: str = "") -> None:
        """Set the spot price of a type, in dollars per hour; in the first zone if none is given."""
        pool = Pool(zone=zone or f"{self.region}a", instance_type=instance_type, lifecycle=Lifecycle.SPOT)
        self._layer.ec2.spot_prices.setdefault(pool, []).append((self.clock.now(), price))

    def make_queue(self, name: str = "interruptions") -> str:
        """Make a queue for notices and return its URL."""
        return str(self.do("sqs", "create_queue", QueueName=name)["QueueUrl"])

    def notify(self, queue: str, machine: Machine, notice: Notice = Notice.INTERRUPTION) -> None:
        """Put EventBridge's notice about a machine into a queue."""
        body = notice_body(notice, machine, account=self.account, region=self.region, at=self.clock.now())
        self.do("sqs", "send_message", QueueUrl=queue, MessageBody=body)

    def take_away(self, machine: Machine) -> None:
        """Remove a machine at once; its group replaces it."""
        with self._layer.lock:
            self._layer.fleet.vanish(machine.id)
