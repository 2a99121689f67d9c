"""What happens to a cluster by chance in a long life: what people and clouds do to it, and all that goes wrong."""

from collections import Counter
from fnmatch import fnmatchcase
from random import Random
from threading import Lock
from time import sleep

from nodewright.api import ErrorClass, InstanceError
from nodewright.decision.memory import Memory
from nodewright.objects.node import SCALE_DOWN_DISABLED
from nodewright.objects.pod import SAFE_TO_EVICT
from nodewright_fake.apiserver.faults import AnswerCutError, AnswerLostError
from nodewright_fake.apiserver.status import StatusError
from nodewright_fake.apiserver.wire import ConnectionEndedError
from nodewright_fake.cloud.api_fault import ApiFault, ApiFaultKind
from nodewright_fake.cloud.boot_fault import BootFault, BootFaultKind
from nodewright_fake.cloud.shortage import ShortageMode

BUDGETS = "poddisruptionbudgets.policy"
#: How long the latest answers of the cloud take, in real time; to be longer than the action timeout.
LATE_SECONDS = 0.4
#: Why requests are refused, by status.
REASONS = {
    500: "InternalError",
    503: "ServiceUnavailable",
    504: "Timeout",
    429: "TooManyRequests",
    409: "Conflict",
    410: "Expired",
}
FAULTS = [500, 503, 504, 429, 409, 409, "hang up", "hang up", "lose", "lose", "cut", "late", "too late"]
READING_FAULTS = [500, 503, 504, 429, 410, 410, "hang up", "lose", "cut", "cut", "late", "too late"]
BROKEN = InstanceError(error_class=ErrorClass.OTHER, code="BOOT_FAILED", message="it did not boot")


class UnluckyCloud(ApiFault):
    """Befalls a share of the calls, by chance."""

    def __init__(self, kind, chance, share, **fields):
        super().__init__(kind, **fields)
        self.chance = chance
        self.share = share

    def befalls(self, operation, now):
        return fnmatchcase(operation, self.operations) and self.chance.random() < self.share


class UnluckyApiServer:
    """Lets something go wrong with one of 20 requests; what befalls one depends on no other's path.

    It refuses, with and without a time to come again; hangs up before the work is done, after it, and in the middle of
    the answer; answers late, and so late that nobody waits for it any more (*patience* in seconds is how long clients
    do). Watches are refused, expire and break off, too.
    """

    def __init__(self, seed, patience=0.0):
        self.seed = seed
        self.patience = patience
        self.requests = {}
        self.hits = Counter()
        self.lock = Lock()

    def __call__(self, request):
        key = f"{request.method} {request.path} {request.verb}"
        with self.lock:
            self.requests[key] = number = self.requests.get(key, 0) + 1
        chance = Random(f"{self.seed} {key} {number}")
        if chance.random() >= 0.05:
            return
        reading = request.verb in ("list", "watch")
        fault = chance.choice(READING_FAULTS if reading else FAULTS)
        with self.lock:
            self.hits[fault] += 1
        if fault == "late":
            sleep(0.02)
        elif fault == "too late" and request.verb != "watch":
            sleep(self.patience)
        elif fault == "hang up":
            raise ConnectionEndedError
        elif fault == "lose":
            raise AnswerLostError
        elif fault == "cut":
            raise AnswerCutError
        elif isinstance(fault, int):
            raise StatusError(fault, REASONS[fault], "bad luck", retry_after=fault == 429)


class Chaos:
    """What happens to a life: rollouts, reclaims, empty pools, faults, and an autoscaler that is killed.

    *most_replicas* are those that Deployments have at most, *pools* are those that may run out, as patterns. So large
    a *share* of the calls of the cloud fails in each of the ways in which they can. Clients have so much *patience*, in
    seconds, with the API server.
    """

    def __init__(self, life, seed, most_replicas, pools, share=0.0085, patience=0.0):
        self.life = life
        self.most_replicas = most_replicas
        self.pools = pools
        self.chance = Random(seed)
        self.unlucky = UnluckyApiServer(seed, patience)
        cloud = life.world.cloud
        for kind in [each for each in ApiFaultKind if each is not ApiFaultKind.SLOW]:
            cloud.gate.add(UnluckyCloud(kind, Random(f"{seed} {kind}"), share))
        for kind in BootFaultKind:
            cloud.boot_faults.add(BootFault(groups="*", kind=kind, share=0.02, error=BROKEN))
        life.world.api_server.faults.append(self.unlucky)

    def strike(self):
        """Let something happen, or nothing."""
        life, chance = self.life, self.chance
        if chance.random() < 0.05:
            self.roll_out()
        if chance.random() < 0.02:
            spot = [machine for machine in life.world.cloud.fleet.all() if machine.group.spot and machine.registered]
            if spot:
                life.world.cloud.fleet.reclaim(chance.choice(spot), chance.choice([0, 20]))
        if chance.random() < 0.02:
            life.run_out(chance.choice(self.pools), chance.choice(list(ShortageMode)))
        elif chance.random() < 0.04:
            life.world.cloud.supply.lift_stocks("*")
            life.world.cloud.fill()
        if chance.random() < 0.004:
            life.start_again()

    def roll_out(self):
        """Let a Deployment have another number of pods."""
        name = self.chance.choice(sorted(self.most_replicas))
        self.life.scale(name, self.chance.randint(0, self.most_replicas[name]))

    def end(self):
        """Let nothing go wrong any more, and ask for no more than surely fits into the most nodes there may be."""
        cloud = self.life.world.cloud
        cloud.gate.heal("*")
        cloud.boot_faults.heal("*")
        cloud.supply.lift_stocks("*")
        self.life.world.api_server.faults.remove(self.unlucky)
        for name, most in self.most_replicas.items():
            self.life.scale(name, most // 2)


class Mischief(Chaos):
    """The same, and people who change their minds: about budgets, pods, nodes, groups and the configuration.

    Some answers of the cloud come late, the autoscaler is killed more often, and now and then the next one has its
    memory. *settings* are configurations that take turns.
    """

    def __init__(self, life, seed, most_replicas, pools, settings, **fields):
        super().__init__(life, seed, most_replicas, pools, **fields)
        self.settings = settings
        # Some orders are answered when nobody waits for it any more.
        for operation in ("increase", "delete-instances"):
            chance = Random(f"{seed} {operation}")
            late = UnluckyCloud(ApiFaultKind.SLOW, chance, 0.05, operations=operation, latency=LATE_SECONDS)
            life.world.cloud.gate.add(late)
        self.began_with = {group.settings.name: group.settings for group in life.world.cloud.groups}
        self.budgets = life.world.store.list(BUDGETS)

    def strike(self):
        super().strike()
        for probability, happen in self.happenings():
            if self.chance.random() < probability:
                happen()

    def happenings(self):
        """What may happen now, and how likely it is."""
        return [
            (0.1, self.roll_out),
            (0.02, self._change_budget),
            (0.03, self._lose_pod),
            (0.04, self._change_pod),
            (0.02, self._change_node),
            (0.01, self._change_group),
            (0.01, self._change_configuration),
            (0.01, self._let_machine_hang),
            (0.01, self.life.world.api_server.drop_watches),
            (0.005, self._kill),
            # Best of all in the middle of something.
            (0.15 if self.life.autoscaler.memory.leaving.removals else 0, self._kill),
        ]

    def end(self):
        super().end()
        cloud = self.life.world.cloud
        for machine in cloud.fleet.all():
            cloud.fleet.recover(machine)
        for name, settings in self.began_with.items():
            cloud.resize(name, minimum=settings.min, maximum=settings.max, desired=None)
        for node in self.life.world.store.list("nodes"):
            self._modify("nodes", node, lambda draft: draft["metadata"].pop("annotations", None))
        for budget in self.budgets:
            self._specify(budget, budget["spec"])
        self.life.configure(self.settings[0])

    def _kill(self):
        """Let the next autoscaler go on, with the memory that the last one has stored or without."""
        self.life.start_again(self.chance.choice([None, Memory()]))

    def _change_budget(self):
        budget = self._one_of(BUDGETS, "default")
        if budget is not None:
            most = self.chance.choice([0, 1, 1, 2, "50%"])
            self._specify(budget, {"selector": budget["spec"]["selector"], "maxUnavailable": most})

    def _specify(self, budget, spec):
        self._modify(BUDGETS, budget, lambda draft: draft.update(spec=spec))

    def _lose_pod(self):
        pod = self._one_of("pods", "default")
        if pod is not None:
            self.life.world.cluster.delete("v1", "Pod", "default", pod["metadata"]["name"])

    def _change_pod(self):
        pod = self._one_of("pods", "default")
        if pod is not None:
            self._annotate("pods", pod, SAFE_TO_EVICT, self.chance.choice(["true", "false", None, None]))

    def _change_node(self):
        node = self._one_of("nodes")
        if node is not None:
            self._annotate("nodes", node, SCALE_DOWN_DISABLED, self.chance.choice(["true", None, None, None, None]))

    def _change_group(self):
        group = self.chance.choice(self.life.world.cloud.groups)
        settings, most = self.began_with[group.settings.name], group.desired
        minimum = self.chance.choice([settings.min, min(most, settings.min + 1), most])
        self.life.world.cloud.resize(settings.name, minimum=minimum, maximum=settings.max, desired=None)

    def _change_configuration(self):
        self.life.configure(self.chance.choice(self.settings))

    def _let_machine_hang(self):
        fleet = self.life.world.cloud.fleet
        machines = [machine for machine in fleet.all() if machine.registered]
        if machines and self.chance.random() < 0.3:
            fleet.hang(self.chance.choice(machines))
        else:
            for machine in machines:
                fleet.recover(machine)

    def _one_of(self, resource, namespace=None):
        there = self.life.world.store.list(resource, namespace)
        return self.chance.choice(there) if there else None

    def _annotate(self, resource, thing, key, value):
        def change(draft):
            annotations = draft["metadata"].setdefault("annotations", {})
            if value is None:
                annotations.pop(key, None)
            else:
                annotations[key] = value

        self._modify(resource, thing, change)

    def _modify(self, resource, thing, change):
        metadata = thing["metadata"]
        self.life.world.store.modify(resource, metadata["name"], metadata.get("namespace", ""), change)
