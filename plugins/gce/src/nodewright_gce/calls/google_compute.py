"""Google Cloud, asked over HTTP."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Generic, TypeVar
from urllib.parse import urlencode

import msgspec
from nodewright.api import (
    AccessDeniedError,
    Clock,
    CloudUnavailableError,
    NodewrightError,
    PermanentError,
    ThrottledError,
)

from nodewright_gce.calls.errors import Call, failure
from nodewright_gce.calls.fields import fields_of
from nodewright_gce.calls.session import Session
from nodewright_gce.resources.address import Address, Place
from nodewright_gce.resources.instance_template import InstanceTemplate
from nodewright_gce.resources.machine_type import MachineType
from nodewright_gce.resources.managed_instance import ManagedInstance, MigError
from nodewright_gce.resources.mig import Mig
from nodewright_gce.resources.operation import Operation
from nodewright_gce.resources.region import Region
from nodewright_gce.resources.reservation import Reservation
from nodewright_gce.resources.resize_request import ResizeRequest
from nodewright_gce.resources.resource import Resource
from nodewright_gce.resources.sku import Sku

if TYPE_CHECKING:
    from nodewright_gce.config.gce import GceConfig

_COMPUTE = "https://compute.googleapis.com"
_BILLING = "https://cloudbilling.googleapis.com"
#: Compute Engine in the billing catalogue.
_SERVICE = "services/6F81-5844-456A"
_PAGE = 500
_PAGE_OF_PRICES = 5000
#: More than Google has of anything, even on pages that are almost empty.
_MOST_PAGES = 1000

_Query = Mapping[str, str | int]

T = TypeVar("T", bound=msgspec.Struct)


class _Page(Resource, frozen=True, kw_only=True):
    next_page_token: str = ""


class _ItemsPage(_Page, Generic[T], frozen=True, kw_only=True):
    items: tuple[T, ...] = ()


class _MachinesPage(_Page, frozen=True, kw_only=True):
    managed_instances: tuple[ManagedInstance, ...] = ()


class _PricesPage(_Page, frozen=True, kw_only=True):
    skus: tuple[Sku, ...] = ()


P = TypeVar("P", bound=_Page)


class GoogleCompute:
    """Implements `nodewright_gce.calls.compute.Compute` for the project of *settings*.

    Each request gets a share of the *deadline*, the shortest within which the core waits for anything.
    """

    def __init__(
        self, settings: "GceConfig", clock: Clock, user_agent: str, *, deadline: timedelta = timedelta(seconds=60)
    ) -> None:
        self._session = Session(settings, clock, user_agent, deadline)
        self._compute = settings.endpoints.get("compute", _COMPUTE).rstrip("/") + "/compute/v1/"
        self._billing = settings.endpoints.get("billing", _BILLING).rstrip("/") + "/v1/"

    @property
    def project(self) -> str:
        """The project of the settings, else of the environment, the credentials or the machine."""
        return self._session.project

    def zone(self) -> str:
        """Return the zone of ``gce.conf``, else of the machine that this runs on."""
        return self._session.cloud_config.local_zone or self._session.machine_zone()

    def migs(self, place: Place) -> Sequence[Mig]:
        """``instanceGroupManagers.list``."""
        call = Call(resource=_of("instance_group_managers", place), verb="list", path=place.path)
        return self._items(call, f"{place.path}/instanceGroupManagers", Mig)

    def mig(self, address: Address) -> Mig:
        """``instanceGroupManagers.get``."""
        return self._get(_about(address, "get"), address.path, Mig)

    def managed_instances(self, address: Address) -> Sequence[ManagedInstance]:
        """``instanceGroupManagers.listManagedInstances``."""
        query: _Query = {"maxResults": _PAGE, **_fields("managedInstances", ManagedInstance)}
        call = _about(address, "list_managed_instances")
        url = f"{self._compute}{address.path}/listManagedInstances"
        pages = self._pages(call, "POST", url, _MachinesPage, query)
        return [machine for page in pages for machine in page.managed_instances]

    def mig_errors(self, address: Address) -> Sequence[MigError]:
        """``instanceGroupManagers.listErrors``."""
        found = self._items(_about(address, "list_errors"), f"{address.path}/listErrors", MigError)
        return sorted(found, key=lambda error: error.timestamp, reverse=True)

    def create_instances(self, address: Address, names: Sequence[str], *, request_id: str) -> Operation:
        """``instanceGroupManagers.createInstances``."""
        body = {"instances": [{"name": name} for name in names]}
        return self._change(
            _about(address, "create_instances"), f"{address.path}/createInstances", {"requestId": request_id}, body
        )

    def delete_instances(self, address: Address, instances: Sequence[str], *, request_id: str) -> Operation:
        """``instanceGroupManagers.deleteInstances``."""
        body = {"instances": list(instances), "skipInstancesOnValidationError": True}
        return self._change(
            _about(address, "delete_instances"), f"{address.path}/deleteInstances", {"requestId": request_id}, body
        )

    def resize(self, address: Address, size: int, *, request_id: str) -> Operation:
        """``instanceGroupManagers.resize``."""
        query: _Query = {"size": size, "requestId": request_id}
        return self._change(_about(address, "resize"), f"{address.path}/resize", query)

    def resize_requests(self, address: Address) -> Sequence[ResizeRequest]:
        """``instanceGroupManagerResizeRequests.list``."""
        return self._items(_requests_of(address, "list"), f"{address.path}/resizeRequests", ResizeRequest)

    def insert_resize_request(self, address: Address, name: str, count: int, *, request_id: str) -> Operation:
        """``instanceGroupManagerResizeRequests.insert``."""
        call = _requests_of(address, "insert")
        body = {"name": name, "resizeBy": count}
        return self._change(call, f"{address.path}/resizeRequests", {"requestId": request_id}, body)

    def cancel_resize_request(self, address: Address, name: str, *, request_id: str) -> Operation:
        """``instanceGroupManagerResizeRequests.cancel``."""
        call = _requests_of(address, "cancel")
        return self._change(call, f"{address.path}/resizeRequests/{name}/cancel", {"requestId": request_id})

    def operation(self, operation: Operation) -> Operation:
        """``zoneOperations.get`` or ``regionOperations.get``."""
        path = _path_in(operation.self_link)
        resource = "region_operations" if "/regions/" in path else "zone_operations"
        call = Call(resource=resource, verb="get", path=path)
        try:
            now = self._get(call, path, Operation)
        except (AccessDeniedError, ThrottledError):
            raise
        except NodewrightError as error:
            # The operation itself may have gone well.
            raise CloudUnavailableError(f"nobody can tell what became of {path}: {error}") from error
        return _succeeded(now, call)

    def template(self, url: str) -> InstanceTemplate:
        """``instanceTemplates.get`` or ``regionInstanceTemplates.get``."""
        path = _path_in(url)
        resource = "region_instance_templates" if "/regions/" in path else "instance_templates"
        return self._get(Call(resource=resource, verb="get", path=path), path, InstanceTemplate)

    def machine_type(self, zone: Place, name: str) -> MachineType:
        """``machineTypes.get``."""
        path = f"{zone.path}/machineTypes/{name}"
        return self._get(Call(resource="machine_types", verb="get", path=path), path, MachineType)

    def region(self, region: Place) -> Region:
        """``regions.get``."""
        path = f"projects/{region.project}/regions/{region.region}"
        return self._get(Call(resource="regions", verb="get", path=path), path, Region)

    def reservations(self, zone: Place) -> Sequence[Reservation]:
        """``reservations.list``."""
        call = Call(resource="reservations", verb="list", path=zone.path)
        return self._items(call, f"{zone.path}/reservations", Reservation)

    def skus(self, currency: str) -> Sequence[Sku]:
        """``services.skus.list``."""
        call = Call(resource="skus", verb="list", path=_SERVICE)
        query: _Query = {"currencyCode": currency, "pageSize": _PAGE_OF_PRICES, **_fields("skus", Sku)}
        pages = self._pages(call, "GET", f"{self._billing}{_SERVICE}/skus", _PricesPage, query)
        return [sku for page in pages for sku in page.skus]

    def close(self) -> None:
        """Close all connections."""
        self._session.close()

    def _get(self, call: Call, path: str, kind: type[T]) -> T:
        query = urlencode({"fields": fields_of(kind)})
        return _decoded(self._session.send(call, "GET", f"{self._compute}{path}?{query}").data, kind, call)

    def _items(self, call: Call, path: str, kind: type[T]) -> Sequence[T]:
        query: _Query = {"maxResults": _PAGE, **_fields("items", kind)}
        pages = self._pages(call, "GET", self._compute + path, _ItemsPage[kind], query)  # type: ignore[valid-type]
        return [item for page in pages for item in page.items]

    def _pages(self, call: Call, method: str, url: str, kind: type[P], query: _Query) -> Iterator[P]:
        token, seen = "", {""}
        for _ in range(_MOST_PAGES):
            asked = {**query, "pageToken": token} if token else query
            page = _decoded(self._session.send(call, method, f"{url}?{urlencode(asked)}").data, kind, call)
            yield page
            token = page.next_page_token
            if not token:
                return
            if token in seen:
                break
            seen.add(token)
        raise CloudUnavailableError(f"Google comes to no end with {call}: the next loop reads it from the start")

    def _change(self, call: Call, path: str, query: _Query, body: Mapping[str, object] | None = None) -> Operation:
        url = f"{self._compute}{path}?{urlencode(query)}"
        data = msgspec.json.encode(body or {})
        answer = self._session.send(call, "POST", url, data, is_change=True)
        return _succeeded(_decoded(answer.data, Operation, call), call)


def _of(resource: str, place: Place) -> str:
    return f"region_{resource}" if place.regional else resource


def _about(address: Address, verb: str) -> Call:
    return Call(resource=_of("instance_group_managers", address.place), verb=verb, path=address.path)


def _requests_of(address: Address, verb: str) -> Call:
    return Call(resource=_of("instance_group_manager_resize_requests", address.place), verb=verb, path=address.path)


def _fields(items: str, kind: type[msgspec.Struct]) -> _Query:
    return {"fields": f"nextPageToken,{items}({fields_of(kind)})"}


def _path_in(url: str) -> str:
    """The path below the version: URLs come with any of Google's hosts, or with none."""
    _, found, rest = url.partition("projects/")
    if not found:
        raise PermanentError(f"{url!r} is no URL of Google Cloud")
    return found + rest


def _decoded(data: bytes, kind: type[T], call: Call) -> T:
    try:
        return msgspec.json.decode(data, type=kind, strict=False)
    except msgspec.MsgspecError as error:
        raise CloudUnavailableError(
            f"the answer to {call} can't be read: see what is at that endpoint, or on the way ({error})"
        ) from error


def _succeeded(operation: Operation, call: Call) -> Operation:
    if (error := failure(operation, call)) is not None:
        raise error
    return operation
