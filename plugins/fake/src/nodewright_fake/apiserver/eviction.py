"""Evictions: deletions of pods that ask the disruption budgets first."""

from nodewright_fake.apiserver.document import Document, Object, dig, encode
from nodewright_fake.apiserver.request import Request
from nodewright_fake.apiserver.resources import Resource
from nodewright_fake.apiserver.selectors import selects
from nodewright_fake.apiserver.status import StatusError, bad_request, forbidden, success
from nodewright_fake.apiserver.store import Store, timestamp
from nodewright_fake.apiserver.wire import Response
from nodewright_fake.apiserver.writes import Writer

BUDGETS = "poddisruptionbudgets.policy"
_VERSIONS = ("policy/v1", "policy/v1beta1")
_MOST_UNCONFIRMED = 2000
_RETRY_SECONDS = 10


class Evictor:
    """Answers POST on the eviction subresource of pods."""

    def __init__(self, store: Store, writer: Writer) -> None:
        self._store = store
        self._writer = writer

    def evict(self, request: Request, pods: Resource) -> Response:
        """Delete the pod if its budget allows; the budget is charged in the same moment."""
        assert request.target is not None
        target, eviction = request.target, request.document()
        if eviction.get("apiVersion", _VERSIONS[0]) not in _VERSIONS or eviction.get("kind", "Eviction") != "Eviction":
            raise bad_request(f"the body is no eviction: expected kind Eviction of {' or '.join(_VERSIONS)}")
        if (eviction.get("metadata") or {}).get("name", target.name) != target.name:
            raise bad_request("name in URL does not match name in Eviction object")
        options = eviction.get("deleteOptions") or {}
        dry_run = request.dry_run or "All" in (options.get("dryRun") or ())
        with self._store.lock:
            pod = self._store.get(pods.key, target.name, target.namespace)
            budget = None if _disrupts_nothing(pod) else self._budget(pod)
            charge = budget is not None and not _unready_within(budget, pod)
            if budget is not None and charge:
                _check(budget)
            # The pod first: a precondition that fails must cost the budget nothing.
            self._writer.remove(request, pods, target.name, target.namespace, options)
            if budget is not None and charge and not dry_run:
                self._charge(budget, pod)
        return Response(status=201, body=encode(success(code=201)))

    def _budget(self, pod: Document) -> Document | None:
        namespace, labels = pod["metadata"]["namespace"], pod["metadata"].get("labels") or {}
        budgets = [
            budget for budget in self._store.list(BUDGETS, namespace) if selects(dig(budget, "spec.selector"), labels)
        ]
        if len(budgets) > 1:
            raise StatusError(
                500,
                "InternalError",
                "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
            )
        return budgets[0] if budgets else None

    def _charge(self, budget: Document, pod: Document) -> None:
        now = timestamp(self._store.clock.now())

        def spend(draft: Object) -> None:
            status = draft["status"]
            status["disruptionsAllowed"] -= 1
            status.setdefault("disruptedPods", {})[pod["metadata"]["name"]] = now
            if status["disruptionsAllowed"] == 0:
                for condition in status.get("conditions") or ():
                    if condition["type"] == "DisruptionAllowed":
                        condition.update(status="False", reason="InsufficientPods", lastTransitionTime=now)

        self._store.modify(BUDGETS, budget["metadata"]["name"], budget["metadata"]["namespace"], spend)


def _disrupts_nothing(pod: Document) -> bool:
    """Return whether evicting the pod disrupts nothing: it is not running yet, has ended, or is being deleted."""
    return dig(pod, "status.phase") in ("Pending", "Succeeded", "Failed") or "deletionTimestamp" in pod["metadata"]


def _unready_within(budget: Document, pod: Document) -> bool:
    """Return whether the pod is unready and the budget lets such pods go without a charge."""
    if any(one["type"] == "Ready" and one["status"] == "True" for one in dig(pod, "status.conditions") or ()):
        return False
    if dig(budget, "spec.unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    desired = dig(budget, "status.desiredHealthy") or 0
    return desired > 0 and (dig(budget, "status.currentHealthy") or 0) >= desired


def _check(budget: Document) -> None:
    """Raise `StatusError` 429 if the budget allows no disruption now, 403 if it never will as it stands."""
    name, status = budget["metadata"]["name"], budget.get("status") or {}
    allowed = status.get("disruptionsAllowed", 0)
    if "observedGeneration" in status and status["observedGeneration"] < budget["metadata"].get("generation", 0):
        message = f"The disruption budget {name} is still being processed by the server."
        raise _too_many(message, retry_after=_RETRY_SECONDS)
    if allowed < 0:
        raise forbidden(BUDGETS, name, "pdb disruptions allowed is negative")
    if len(status.get("disruptedPods") or ()) > _MOST_UNCONFIRMED:
        because = "DisruptedPods map too big - too many evictions not confirmed by PDB controller"
        raise forbidden(BUDGETS, name, because)
    if allowed == 0:
        needs, has = status.get("desiredHealthy", 0), status.get("currentHealthy", 0)
        raise _too_many(f"The disruption budget {name} needs {needs} healthy pods and has {has} currently")


def _too_many(cause: str, *, retry_after: int = 0) -> StatusError:
    return StatusError(
        429,
        "TooManyRequests",
        "Cannot evict pod as it would violate the pod's disruption budget.",
        details={"causes": [{"reason": "DisruptionBudget", "message": cause}]},
        retry_after=retry_after,
    )
