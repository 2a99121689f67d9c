"""Mutants of the provider: changes of one place each, which the tests have to notice."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """A text of a module that is replaced where it stands, and the tests that are tried first."""

    name: str
    module: str
    before: str
    after: str
    #: Arguments of pytest in the folder of the tests.
    tests: str
    #: Why it makes no difference that a user could notice; empty if tests have to fail.
    survives: str = ""


def _of(module, tests):
    def mutant(name, before, after="", *, tests=tests, survives=""):
        return Mutant(name=name, module=module, before=before, after=after, tests=tests, survives=survives)

    return mutant


_growth = _of("groups/growth.py", "groups/test_growth.py")
_current = _of("groups/current.py", "groups/test_growth.py groups/test_shrinking.py groups/test_facts.py")
_shrinkage = _of("groups/shrinkage.py", "groups/test_shrinking.py")
_removal = _of("groups/removal.py", "groups/test_machines.py groups/test_shrinking.py")
_machines = _of("groups/machines.py", "groups/test_machines.py groups/test_facts.py groups/test_shrinking.py")
_listing = _of("groups/listing.py", "groups capacity")
_orders = _of("groups/orders.py", "groups test_conformance.py")
_attempts = _of("groups/attempts.py", "groups/test_growth.py")
_operations = _of("groups/operations.py", "groups")
_known = _of("groups/known_machines.py", "groups/test_facts.py groups/test_shrinking.py")
_causes = _of("causes.py", "capacity/test_causes.py")
_members = _of("migs/members.py", "migs test_call_counts.py")
_migs = _of("migs/migs.py", "migs")
_discovery = _of("migs/discovery.py", "migs config")
_errors = _of("calls/errors.py", "calls/test_errors.py")
_session = _of("calls/session.py", "calls")
_supply = _of("groups/supply.py", "groups capacity templates")
_steering = _of("groups/steering.py", "groups")
_limits = _of("groups/limits.py", "groups")
_groups = _of("groups/groups.py", "groups test_conformance.py")
_node_group = _of("groups/node_group.py", "groups")

MUTANTS = (
    # Growing
    _growth("no maximum", "if target > self._most:", "if False:"),
    _growth("maximum is one too high", "if target > self._most:", "if target > self._most + 1:"),
    _growth("old size against the maximum", "self._check_room(now.mig.target_size + count)", "pass"),
    _growth("grows by nothing", "if count < 1:", "if False:"),
    _growth("always by size", "if count > _MOST_BY_NAME or not _grows_by_name(now.mig):", "if True:"),
    _growth("too many names in a call", "_MOST_BY_NAME = 1000", "_MOST_BY_NAME = 9999"),
    _growth(
        "flexible by name", "chooses = bool(mig.instance_flexibility_policy.instance_selections)", "chooses = False"
    ),
    _growth("standby by name", 'stands_by = mig.standby_policy.mode == "SCALE_OUT_POOL"', "stands_by = False"),
    _growth("numbered by name", ' or "#" in mig.base_instance_name'),
    _growth("keeps what a refused order began", "self._take_back(attempt.names, error)", "pass"),
    _growth("forgets a lost order", "except CloudUnavailableError:", "except CloudUnavailableError if False else ():"),
    _growth(
        "counts a repeated order twice",
        "max(now.mig.target_size, attempt.before + attempt.count)",
        "now.mig.target_size + attempt.count",
    ),
    _growth("resizes over others", "if size != known:", "if False:"),
    _growth("takes back its own order", "if self._services.orders.is_undone_by(now, size + count):", "if False:"),
    _node_group(
        "queues in any group", "elif self.has_queue:", "else:\n            self._growth.queue(count)\n        if False:"
    ),
    _attempts("other names after a lost answer", "names = last.names[:count]", "pass"),
    _attempts("another id after a lost answer", "if last.count == count:", "if False:"),
    _current("old members after a change", "self._services.touch(self.address)", "pass"),
    _current("a deletion is not remembered", "self._services.orders.deleted(self.id, id_, incarnation)", "pass"),
    # Shrinking
    _shrinkage("no minimum", "if least is not None:", "if False:"),
    _shrinkage(
        "minimum is one too high",
        "if group.mig.target_size - count < least:",
        "if group.mig.target_size - count <= least:",
    ),
    _shrinkage("gives up what is not waited for", "if not 0 < count <= unmet:", "if False:"),
    _shrinkage("gives up below the minimum", "self._check_minimum(now, count, least)\n        unlisted", "unlisted"),
    _shrinkage("gives up more than asked", "self._delete(to_come[:count])", "self._delete(to_come)"),
    _shrinkage(
        "lets Google choose among late machines",
        "if unlisted > 0 and self._services.orders.is_recent(self._current.id):",
        "if False:",
    ),
    _shrinkage("leaves resize requests", "if queued else ()", "if False else ()"),
    _shrinkage("cancels for others too", "if waiting > len(queued):", "if False:"),
    _removal("deletes strangers", "elif known.former_group(id_) != group.address.id:", "elif False:"),
    _removal("deletes twice", "if state_of(machine, group.mig) is not InstanceState.DELETING:", "if True:"),
    _removal("too many in a call", "_MOST = 1000", "_MOST = 9999"),
    _removal(
        "mixes names and URLs",
        "for queued in (False, True):\n        alike = [each for each in machines if is_queued(each) is queued]",
        "for alike in (machines,):",
    ),
    _machines("gives up machines that exist", " and not machine.id", tests="test_conformance.py"),
    _node_group("a forced deletion keeps the minimum", "least=None)", "least=self.min_size)"),
    # Machines
    _machines("standby runs", "return InstanceState.STOPPED", "return InstanceState.RUNNING"),
    _machines(
        "leaving is running",
        "if machine.current_action in _LEAVING or machine.target_status in _TO_LEAVE:",
        "if False:",
    ),
    _machines("what is to be deleted stays", " or machine.target_status in _TO_LEAVE", ""),
    _machines(
        "preempted runs",
        "return InstanceState.CREATING if not on and repairs else InstanceState.RUNNING",
        "return InstanceState.RUNNING",
    ),
    _machines("no incarnation", "incarnation=str(machine.id)", 'incarnation=""'),
    _machines("never ends", "ends_at=_time(machine.scheduling.termination_timestamp)", "ends_at=None"),
    _machines("type of another version", "usual = template in (", "usual = True or template in ("),
    _known(
        "gone is unknown",
        "gone = {id_: group for id_, group in {**self._gone, **left}.items()",
        "gone = {id_: group for id_, group in {**self._gone}.items()",
    ),
    # Why machines do not come
    _causes(
        "repaired is running",
        '"CREATING_WITHOUT_RETRIES", "RECREATING"}',
        '"CREATING_WITHOUT_RETRIES"}',
        tests="capacity groups",
    ),
    _causes("anything is an error", "further = machine.instance_status not in _NOT_YET_RUNNING", "further = False"),
    _causes(
        "nothing unknown is an error",
        "further = machine.instance_status not in _NOT_YET_RUNNING",
        "further = True",
    ),
    _causes("the first error counts", "error, meaning = known[-1]", "error, meaning = known[0]"),
    _causes("no stock-out in words", 'message="Zone does not currently have sufficient capacity', 'message="No zone'),
    _causes("a full reservation is a dry pool", "of_reservation=True,\n", "of_pool=True,\n"),
    _causes("a quota without a region", 'return quota_name(region or "global"', 'return quota_name("global"'),
    _listing("spot is on demand", "spot=origin.spot", "spot=False"),
    _listing("waiting is a failure", "if origin.queued and is_queued(machine):", "if False:"),
    # What is late
    _orders("answers never lag", "_LAG = timedelta(minutes=1)", "_LAG = timedelta(0)"),
    _orders(
        "a machine made anew is deleted",
        "if order is None or order.is_of_another(machine):",
        "if order is None:",
    ),
    _operations("does not wait", "while not operation.done:", "while False:"),
    _operations("late failures are not told", "self._failures[group] = (cause, now)", "pass"),
    # Lists
    _members("lists no changing group", "or (unsteady and not asked)", ""),
    _members("lists every group", "return changed or", "return True or"),
    _members("trusts a late list", "not listing.settled", "False"),
    _members("seeks no node", "touched |= self._makers(migs, unknown, now)", "pass"),
    _members("never lists again", "_KEPT = timedelta(minutes=10)", "_KEPT = timedelta(days=999)"),
    _migs("a zone fails for all", "if troubles and len(troubles) == len(areas):", "if troubles:"),
    _migs("no zone fails", "if troubles and len(troubles) == len(areas):", "if False:"),
    _migs("a failed zone is empty", "used=before.used, trouble=error", "trouble=error"),
    _migs("missing groups are forgotten", "groups += self._missing_groups(areas)", "pass"),
    _discovery(
        "named limits are ignored",
        "if (limits := self.named.get(address)) is not None:",
        "if (limits := None) is not None:",
    ),
    _discovery("zones are read every time", "if at is not None and now - at < _ZONES_KEPT:", "if False:"),
    # Calls
    _errors(
        "too many calls are no throttling",
        "if answer.status == 429 or reasons & _THROTTLED:",
        "if answer.status == 429:",
    ),
    _errors("a quota is a lack of rights", "if reasons & _QUOTA:", "if False:"),
    _errors("no group is missing", 'if "instanceGroupManagers/" in call.path:', "if False:"),
    _session("a token is never renewed", "if answer.status != 401:", "if True:"),
    _session("a lost change is not repeated", "if isinstance(error, LateError) and not is_change:", "if True:"),
    # Facts
    _supply("the larger room", "= min((room", "= max((room"),
    _steering("steered groups are free", "if mig.status.autoscaler:", "if False:"),
    _limits("limits of metadata are ignored", "least, most = told", "least, most = None, None"),
    _limits(
        "metadata comes first", "if group.max_size is not None:\n", "if group.max_size is not None and most is None:\n"
    ),
    _groups("machines are not learned", "self._services.machines.update(groups)", "pass"),
    _groups("orders are not applied", "tuple(map(orders.applied_to, groups))", "groups"),
)
