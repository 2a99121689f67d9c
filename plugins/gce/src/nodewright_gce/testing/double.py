"""A Google Cloud in this process: clients call it over HTTP, and the test decides what goes wrong."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import Any, Self

from nodewright.api import Clock
from nodewright.testing import FastClock

from nodewright_gce.resources.address import Address, Place
from nodewright_gce.testing.capacity import Reservation
from nodewright_gce.testing.faults import Faults
from nodewright_gce.testing.group import Group, Machine
from nodewright_gce.testing.identity import TOKEN
from nodewright_gce.testing.layer import Layer
from nodewright_gce.testing.messages import Call, Request
from nodewright_gce.testing.project import REGIONS
from nodewright_gce.testing.recipes import template_of
from nodewright_gce.testing.server import Server
from nodewright_gce.testing.supply import Shortage
from nodewright_gce.testing.troubles import Trouble
from nodewright_gce.testing.urls import template_url, url
from nodewright_gce.testing.wire import read_reply


class GceDouble:
    """A project of Google Cloud, with its managed instance groups, on the loopback interface.

    Use it as a context manager. Machines change state only with `settle`, or with the *clock* once `boots` was called.
    It neither reads nor changes the environment: clients get their credentials from `client`, or by `environment` if
    the test sets it. `reset` empties the project and keeps the server.
    """

    def __init__(self, clock: Clock | None = None, *, project: str = "double", port: int = 0, seed: int = 0) -> None:
        self.project = project
        self.clock = clock or FastClock()
        self._seed = seed
        self._layer = Layer(project, self.clock, seed=seed)
        self._clients: dict[str, Any] = {}
        self._server = Server(lambda request: self._layer.serve(request), self.clock, port=port)

    def __enter__(self) -> Self:
        self._server.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for client in self._clients.values():
            client.transport.close()
        self._server.stop()

    def reset(self) -> None:
        """Start anew: no groups, no faults, nothing counted."""
        with self._layer.lock:
            self._layer = Layer(self.project, self.clock, seed=self._seed)

    @property
    def url(self) -> str:
        """The endpoint of all APIs."""
        return self._server.url

    @property
    def faults(self) -> Faults:
        """What goes wrong with calls."""
        return self._layer.faults

    @property
    def calls(self) -> Counter[tuple[str, str]]:
        """Calls over HTTP by resource and verb, as Cluster Autoscaler's metrics name them; each page is a call.

        Those of the metadata server do not count: they are no calls of an API.
        """
        return self._layer.calls

    @property
    def requests(self) -> Sequence[Request]:
        """The latest requests, also those of the metadata server."""
        return tuple(self._layer.requests)

    @property
    def environment(self) -> Mapping[str, str]:
        """Variables with which google-auth, in a new process, finds this double's metadata server and nothing else."""
        host = self.url.removeprefix("http://")
        return {
            "GCE_METADATA_HOST": host,
            "GCE_METADATA_IP": host,
            "CLOUDSDK_CONFIG": "/dev/null",
            "GOOGLE_CLOUD_PROJECT": self.project,
            "NO_PROXY": "127.0.0.1",
        }

    @property
    def secret(self) -> str:
        """The token that calls have to carry."""
        return TOKEN

    def config(self, **settings: Any) -> dict[str, Any]:
        """What to write under ``gce`` in YAML, besides *settings*."""
        return {"project": self.project, "endpoints": {"compute": self.url, "billing": self.url}, **settings}

    def client(self, resource: str) -> Any:
        """A client of google-cloud-compute, such as that of ``instance_group_managers``; closed with the double."""
        from google.api_core.client_options import ClientOptions
        from google.cloud import compute_v1
        from google.oauth2.credentials import Credentials

        if resource not in self._clients:
            name = "".join(part.capitalize() for part in resource.split("_"))
            self._clients[resource] = getattr(compute_v1, f"{name}Client")(
                credentials=Credentials(token=TOKEN, refresh_handler=lambda request, scopes: (TOKEN, datetime.max)),
                client_options=ClientOptions(api_endpoint=self.url),
            )
        return self._clients[resource]

    def do(self, resource: str, verb: str, name: str = "", /, *, place: str = "", **arguments: Any) -> dict[str, Any]:
        """Make a call as another user of the project: not counted, and without faults.

        In the names of `calls`, with arguments in those of the API. *place* is a zone or region; that of the group if
        *name* is one of a group. Raises `RefusalError`.
        """
        where = self._place(place) if place else None
        if where is None and "instance_group" in resource and name:
            where = self.mig(name).address.place
            name = self.mig(name).name
        child = arguments.pop("child", "")
        call = Call(
            resource=resource, verb=verb, project=self.project, place=where, name=name, child=child, arguments=arguments
        )
        return read_reply(self._layer.answer(call))

    def shorten_pages(self, entries: int) -> None:
        """Return at most so many entries in one answer from now on, as Google may: a caller asks for a maximum."""
        self._layer.reads.longest = self._layer.project.longest = entries

    def make_template(
        self,
        name: str,
        *,
        region: str = "",
        machine_type: str = "n2-standard-8",
        spot: bool = False,
        kube_env: str | Mapping[str, str] | None = None,
        metadata: Mapping[str, str] | None = None,
        accelerators: Mapping[str, int] | None = None,
        disks: Sequence[Mapping[str, Any]] | None = None,
        reservation: str = "",
        **properties: Any,
    ) -> str:
        """Make a template, global unless a region is given, and return its URL.

        *kube_env* is text, or variables that are written as GKE does. Further *properties* are in the form of the API.
        """
        scope = self._place(region).path if region else f"projects/{self.project}/global"
        path = f"{scope}/instanceTemplates/{name}"
        with self._layer.lock:
            self._layer.project.templates[path] = {
                "kind": "compute#instanceTemplate",
                "name": name,
                "selfLink": url(path),
                "properties": template_of(
                    machine_type=machine_type,
                    spot=spot,
                    kube_env=kube_env,
                    metadata=metadata or {},
                    accelerators=accelerators or {},
                    disks=disks,
                    reservation=reservation,
                )
                | properties,
            }
        return template_url(path)

    def make_mig(
        self,
        name: str,
        *,
        zone: str = "europe-west1-b",
        region: str = "",
        zones: Sequence[str] = (),
        size: int = 0,
        base: str = "",
        template: str = "",
        versions: Sequence[Mapping[str, Any]] = (),
        types: Sequence[str] = (),
        stopped: int = 0,
        suspended: int = 0,
        bulk: bool = False,
        settle: bool = True,
        machine_type: str = "n2-standard-8",
        spot: bool = False,
        kube_env: str | Mapping[str, str] | None = None,
        metadata: Mapping[str, str] | None = None,
        accelerators: Mapping[str, int] | None = None,
        disks: Sequence[Mapping[str, Any]] | None = None,
        reservation: str = "",
        **fields: Any,
    ) -> Group:
        """Make a group and its template, with its machines running.

        With a *region* it is regional, over all of its zones or *zones*. *template* is the URL of a template that
        exists already, and *versions* are in the form of the API; else one is made of the arguments that
        `make_template` has as well. With several *types* it is flexible: those first are preferred. Further *fields*
        are in the form of the API.
        """
        place = self._place(region or zone)
        if not template:
            template = self.make_template(
                f"{name}-1",
                machine_type=machine_type,
                spot=spot,
                kube_env=kube_env,
                metadata=metadata,
                accelerators=accelerators,
                disks=disks,
                reservation=reservation,
            )
        settings: dict[str, Any] = {"instanceTemplate": template}
        settings["versions"] = list(versions) or [{"instanceTemplate": template}]
        if types:
            selections = {f"rank-{rank}": {"machineTypes": [each], "rank": rank} for rank, each in enumerate(types)}
            settings["instanceFlexibilityPolicy"] = {"instanceSelections": selections}
        if bulk:
            settings["targetSizePolicy"] = {"mode": "BULK"}
        where: Sequence[str] = (zone,)
        if region:
            where = zones or self._layer.project.zones_of(place)
            settings["distributionPolicy"] = {
                "zones": [{"zone": url(Place(project=self.project, name=each).path)} for each in where],
                "targetShape": "EVEN",
            }
        group = Group(
            address=Address(place=place, name=name),
            base=base or name,
            target=size,
            zones=tuple(where),
            stopped=stopped,
            suspended=suspended,
            settings=settings | fields,
        )
        with self._layer.lock:
            self._layer.fleet.add(group)
            if settle:
                self._layer.fleet.settle([group])
        return group

    def group_id(self, name: str) -> str:
        """The id that `nodewright.api.NodeGroup` has for a group."""
        return self.mig(name).id

    def mig(self, name: str) -> Group:
        """A group's present sizes, machines and errors, by its name or id; raises `KeyError`."""
        with self._layer.lock:
            self._layer.fleet.catch_up()
            found = [group for group in self._layer.fleet.groups.values() if name in (group.name, group.id)]
            if len(found) != 1:
                raise KeyError(f"{len(found)} groups are called {name}")
            return found[0]

    def machines(self, name: str = "") -> list[Machine]:
        """The machines of a group, or all."""
        if name:
            return list(self.mig(name).machines.values())
        with self._layer.lock:
            self._layer.fleet.catch_up()
            return list(self._layer.fleet.machines())

    def settle(self, *names: str) -> None:
        """Finish everything that is under way in groups, or in all: creations, deletions, attempts."""
        with self._layer.lock:
            self._layer.fleet.settle([self.mig(name) for name in names] or None)

    def boots(self, seconds: float | None, *, starts: float = 0, stops: float | None = None, news: float = 0) -> None:
        """Let machines exist *starts* seconds after they were ordered, by the clock, and run *seconds* after that.

        They are gone *stops* seconds after they were deleted. None waits for `settle`. A failed attempt shows *news*
        seconds later. Before this is called, machines that were ordered are listed, but do not exist before `settle`.
        """
        fleet = self._layer.fleet
        fleet.start_seconds, fleet.boot_seconds = starts, seconds
        fleet.stop_seconds, fleet.news_seconds = stops, news

    def works(self, seconds: float) -> None:
        """Let operations be done so many *seconds* after they were begun, by the clock."""
        self._layer.operations.seconds = seconds

    def lags(self, seconds: float) -> None:
        """Let clients see groups and machines as they were *seconds* ago, by the clock; all else is current."""
        with self._layer.lock:
            self._layer.replica.seconds = seconds
            self._layer.replica.look()

    def trails(self, *, state: bool = False, machines: bool = False) -> None:
        """Let answers be one read behind: the state of groups (stable or not, actions), or the lists of their machines.

        Target sizes are current. Google's answers may disagree in either way.
        """
        parts = {"state": state, "machines": machines}
        self._layer.reads.trailing = frozenset(part for part, trails in parts.items() if trails)

    def set_rate(self, quota: str, calls_per_minute: int) -> None:
        """Refuse calls that are charged to a quota such as ``default_per_region`` once a minute has seen so many."""
        self._layer.rates.limits[quota] = calls_per_minute

    @property
    def charged(self) -> Counter[str]:
        """Calls over HTTP by the rate quota that they are charged to."""
        return self._layer.rates.charged

    def run_out(
        self,
        pools: str = "*",
        *,
        migs: str = "*",
        trouble: Trouble = Trouble.STOCK_OUT,
        available: int = 0,
        message: str = "",
        silent: bool = False,
        unseen: bool = False,
        at_once: bool = False,
    ) -> Shortage:
        """Let machines fail from *pools* such as ``europe-west1-b/n2-standard-8`` or ``*/spot``, for *migs* so named.

        So many machines are still *available*. A *silent* shortage shows nowhere. With one that is *unseen*, machines
        are not even listed, and only the history of the group tells. One that shows *at_once* lets the operations of
        orders fail.
        """
        return self._layer.fleet.capacity.supply.add(
            Shortage(
                pools=pools,
                migs=migs,
                trouble=trouble,
                available=available,
                message=message,
                silent=silent,
                unseen=unseen,
                at_once=at_once,
            )
        )

    def restock(self) -> None:
        """End all shortages, and hold nothing to quotas any more."""
        self._layer.fleet.capacity.supply.clear()
        self._layer.fleet.capacity.quotas.clear()

    def set_quota(self, region: str, metric: str, limit: float) -> None:
        """Hold machines of a region to a quota, such as ``N2_CPUS``."""
        self._layer.fleet.capacity.quotas[region][metric] = limit

    def quota(self, region: str, metric: str) -> float:
        """How much of a quota is in use."""
        with self._layer.lock:
            return self._layer.fleet.capacity.usage(region)[metric]

    def reserve(self, name: str, *, zone: str = "europe-west1-b", machine_type: str, count: int) -> None:
        """Reserve capacity, for groups whose template names the reservation."""
        reservation = Reservation(name=name, zone=zone, machine_type=machine_type, count=count)
        self._layer.fleet.capacity.reservations.append(reservation)

    def take_away(self, machine: Machine) -> None:
        """Let somebody delete a machine; its group makes it anew, under its name."""
        with self._layer.lock:
            fleet = self._layer.fleet
            fleet.recreate(fleet.owner(machine), machine)

    def preempt(self, machine: Machine) -> None:
        """Let Google stop a spot machine; its group makes it anew, under its name, when the notice has passed."""
        with self._layer.lock:
            self._layer.fleet.preempt(machine)

    def steer(self, name: str, *, steered: bool = True) -> None:
        """Let Google's own autoscaler steer a group, or no more."""
        group = self.mig(name)
        group.autoscaler = url(f"{group.address.place.path}/autoscalers/{group.name}") if steered else ""

    def _place(self, name: str) -> Place:
        return Place(project=self.project, name=name, regional=name in REGIONS)
