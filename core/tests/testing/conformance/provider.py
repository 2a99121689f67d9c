"""A provider for the shed: all that the contract asks for, in as few lines as it takes."""

from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta

from nodewright.api import (
    AccessDeniedError,
    Capability,
    CapacityError,
    CloudUnavailableError,
    ErrorClass,
    ForeignNodeError,
    GpuConfig,
    GroupNotFoundError,
    Instance,
    InstanceError,
    InstanceState,
    NodeGroup,
    NodeTemplate,
    Pause,
    PluginConfig,
    PricingModel,
    Provider,
    SizeLimitError,
    Taint,
    TemporaryError,
    ThrottledError,
    UnsupportedError,
)

from .shed import ShedError

_LABEL = "shed.example/gpu"
_CLASSES = {
    "SoldOut": ErrorClass.STOCK_OUT,
    "Rationed": ErrorClass.QUOTA,
    "Locked": ErrorClass.PERMISSION,
    "Misshapen": ErrorClass.CONFIGURATION,
    "Odd": ErrorClass.OTHER,
}
_STATES = {
    "coming": InstanceState.CREATING,
    "up": InstanceState.RUNNING,
    "broken": InstanceState.CREATING,
    "idle": InstanceState.STOPPED,
}
_ERRORS = {
    "Full": SizeLimitError,
    "Few": SizeLimitError,
    "NoRack": GroupNotFoundError,
    "Hurry": ThrottledError,
    "WrongKey": AccessDeniedError,
    "Silence": CloudUnavailableError,
    "NoAnswer": CloudUnavailableError,
}
_GIB = 1 << 30
_MODELS = {
    "barrow": {"cpu": 4000, "memory": 16 * _GIB, "pods": 110},
    "loom": {"cpu": 8000, "memory": 64 * _GIB, "pods": 110, "nvidia.com/gpu": 2},
}
_RESERVED = {"cpu": 100, "memory": _GIB}


class ShedGroup(NodeGroup):
    """A rack as it was read."""

    def __init__(self, provider, rack):
        self.provider = provider
        self.shed = provider.shed
        self.rack = rack

    @property
    def id(self):
        return self.rack.name

    @property
    def min_size(self):
        return self.rack.least

    @property
    def max_size(self):
        return self.rack.most

    @property
    def target_size(self):
        return self.rack.wanted

    def instances(self):
        return tuple(self._instance(machine) for machine in self.rack.machines)

    def template(self):
        capacity = _MODELS[self.rack.model]
        gpu = {_LABEL: "tesla"} if "nvidia.com/gpu" in capacity else {}
        taints = (Taint(key="gpu", value="tesla", effect="NoSchedule"),) if gpu else ()
        return NodeTemplate(
            labels={
                "kubernetes.io/arch": "amd64",
                "kubernetes.io/os": "linux",
                "node.kubernetes.io/instance-type": self.rack.model,
                "topology.kubernetes.io/zone": "garden",
                "shed.example/label": self.rack.label,
                **gpu,
            },
            taints=taints,
            capacity=capacity,
            allocatable={name: amount - _RESERVED.get(name, 0) for name, amount in capacity.items()},
        )

    def pools(self):
        return (f"garden/{self.rack.model}",)

    def quotas(self):
        return {f"garden/{self.rack.model}-parts": 4}

    def available(self):
        return self.rack.left

    def errors(self):
        return (self.cause(self.rack.trouble),) if self.rack.trouble else ()

    def pause(self):
        return Pause(why=self.rack.closed) if self.rack.closed else None

    @property
    def atomic(self):
        return self.id != "attic"

    def options(self, defaults):
        minutes = self.rack.unneeded_minutes
        return replace(defaults, scale_down_unneeded_time=timedelta(minutes=minutes)) if minutes else defaults

    def increase(self, count):
        with translated(self):
            self.provider.ordered(self.shed.order(self.id, count, self.max_size))

    def increase_atomically(self, count):
        if not self.atomic:
            raise UnsupportedError(f"rack {self.id} takes one machine after the other")
        with translated(self):
            self.provider.ordered(self.shed.order(self.id, count, self.max_size, whole=True))

    def delete_nodes(self, nodes):
        self._scrap(nodes, self.min_size)

    def force_delete_nodes(self, nodes):
        self._scrap(nodes, 0)

    def decrease_target(self, count):
        with translated(self):
            self.provider.ordered(self.shed.cancel(self.id, count))

    def _scrap(self, nodes, least):
        with translated(self):
            self.provider.ordered(self.shed.scrap(self.id, self._numbers(nodes), least))

    def _numbers(self, nodes):
        """The numbers of the nodes' machines, each once; raises `ForeignNodeError`."""
        numbers = []
        for node in nodes:
            scheme, _, name = node.spec.provider_id.partition("://")
            rack, _, number = name.rpartition("-")
            if scheme != "shed" or rack != f"garden/{self.id}":
                raise ForeignNodeError(f"node {node.name} is none of rack {self.id}: {node.spec.provider_id}")
            numbers.append(int(number))
        return list(dict.fromkeys(numbers))

    def _instance(self, machine):
        return Instance(
            id=id_of(self.id, machine),
            state=_STATES.get(machine.state, InstanceState.DELETING),
            error=self.cause(machine.why) if machine.state == "broken" else None,
            incarnation=str(machine.made),
        )

    def cause(self, code, message=""):
        """What the shed's word for a lack of machines means."""
        pool = {"SoldOut": self.pools()[0], "Rationed": next(iter(self.quotas()))}.get(code, "")
        return InstanceError(error_class=_CLASSES[code], code=code, message=message, pool=pool)


class ShedConfig(PluginConfig):
    key: str = ""


class ShedProvider(Provider):
    """Racks as groups."""

    Config = ShedConfig
    capabilities = frozenset(Capability)
    gpu_label = _LABEL
    group_class = ShedGroup

    def __init__(self, config, context, shed):
        super().__init__(config, context)
        self.shed = shed
        self._groups = {}
        self._owners = {}
        self._prices = None
        #: What the shed has said of racks in answer to orders.
        self._ordered = {}

    def refresh(self):
        with translated():
            racks, prices = self.shed.read(), self.shed.read_prices()
        racks = {name: self._newest(rack) for name, rack in racks.items()}
        self._groups = {name: self.group_class(self, rack) for name, rack in racks.items()}
        self._owners = {id_of(name, each): name for name, rack in racks.items() for each in rack.machines}
        self._prices = ShedPrices(prices)

    def ordered(self, rack):
        """Remember what *rack* is like after an order, which the shed may not tell of for a while."""
        self._ordered[rack.name] = rack

    def _newest(self, rack):
        return max(rack, self._ordered.get(rack.name, rack), key=lambda each: each.revision)

    def groups(self):
        return tuple(self._groups.values())

    def group_of(self, node):
        return self._owners.get(node.spec.provider_id)

    def resolve(self, kind, id):  # noqa: A002  as in the contract
        return id if kind == "Rack" and id in self._groups else None

    def pricing(self):
        return self._prices

    def gpu_config(self, labels):
        kind = labels.get(_LABEL)
        return GpuConfig(label=_LABEL, type=kind, resource="nvidia.com/gpu") if kind else None


class ShedPrices(PricingModel):
    """An hour has its price."""

    def __init__(self, hourly):
        self._hourly = hourly

    def node_price(self, template, start, end):
        hourly = self._hourly.get(template.labels.get("node.kubernetes.io/instance-type"))
        return None if hourly is None else hourly * ((end - start) / timedelta(hours=1))

    def pod_price(self, pod, start, end):
        cpu = _MODELS["barrow"]["cpu"]
        return self._hourly["barrow"] * pod.requests.get("cpu", 0) / cpu * ((end - start) / timedelta(hours=1))


def id_of(rack, machine):
    """The provider ID of a machine's node."""
    return f"shed://garden/{rack}-{machine.number}"


@contextmanager
def translated(group=None):
    """Say in the words of the contract what the shed says in its own."""
    try:
        yield
    except ShedError as error:
        if error.code in _CLASSES:
            raise CapacityError(group.cause(error.code, str(error))) from error
        raise _ERRORS.get(error.code, TemporaryError)(str(error)) from error
