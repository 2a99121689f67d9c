"""The router: from a request on the wire to its answer, by way of access, faults and handlers."""

import logging
from collections.abc import Callable
from dataclasses import replace

from nodewright_fake.apiserver.access import Access
from nodewright_fake.apiserver.binding import Binder
from nodewright_fake.apiserver.catalogue import Catalogue
from nodewright_fake.apiserver.discovery import Discovery
from nodewright_fake.apiserver.document import encode
from nodewright_fake.apiserver.eviction import Evictor
from nodewright_fake.apiserver.faults import AnswerCutError, AnswerLostError, Hook
from nodewright_fake.apiserver.reads import Reader
from nodewright_fake.apiserver.record import Record
from nodewright_fake.apiserver.request import Request, query_of, target_of
from nodewright_fake.apiserver.resources import Resource
from nodewright_fake.apiserver.scale import Scaler
from nodewright_fake.apiserver.status import StatusError, method_not_allowed, unknown_path
from nodewright_fake.apiserver.store import Store
from nodewright_fake.apiserver.wire import ConnectionEndedError, Message, Response
from nodewright_fake.apiserver.writes import Writer

Handler = Callable[[Request, Resource], Response]

_log = logging.getLogger(__name__)
_METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE"})
_ON_COLLECTIONS = frozenset({"create", "list", "watch", "deletecollection"})
_REVIEW_GROUPS = ("authorization.k8s.io", "authentication.k8s.io")


class Router:
    """Answers messages. Used by the threads of all connections at once."""

    def __init__(
        self, store: Store, catalogue: Catalogue, reader: Reader, access: Access, record: Record, faults: list[Hook]
    ) -> None:
        self._catalogue = catalogue
        self._access = access
        self._record = record
        self._faults = faults
        self._discovery = Discovery(catalogue)
        writer, scaler, binder = Writer(store, reader), Scaler(store), Binder(store)
        on_object: dict[str, Handler] = {
            "get": reader.get,
            "list": reader.list_chunk,
            "watch": reader.watch,
            "create": writer.create,
            "update": writer.update,
            "patch": writer.patch,
            "delete": writer.delete,
            "deletecollection": writer.delete_collection,
        }
        on_status: dict[str, Handler] = {"get": reader.get, "update": writer.update, "patch": writer.patch}
        self._handlers: dict[str, dict[str, Handler]] = {
            "": on_object,
            "status": on_status,
            "finalize": {"update": writer.update},
            "scale": {"get": scaler.get, "update": scaler.update, "patch": scaler.patch},
            "eviction": {"create": Evictor(store, writer).evict},
            "binding": {"create": binder.bind},
        }
        self._bind: Handler = binder.bind

    def answer(self, message: Message) -> Response:
        """Return the answer to *message*. Raises `ConnectionEndedError` if there is to be none."""
        try:
            request = self._understood(message)
            self._record.note(request)
            return self._answer(request)
        except StatusError as error:
            return _refusal(error)
        except ConnectionEndedError:
            raise
        except Exception as error:
            _log.exception("the API server failed on %s %s", message.method, message.target)
            return _refusal(StatusError(500, "InternalError", f"Internal error occurred: {error!r}"))

    def _understood(self, message: Message) -> Request:
        path, _, query = message.target.partition("?")
        user = self._access.user(message.headers)
        target = target_of(path)
        resource = self._catalogue.find(target.group, target.version, target.plural) if target else None
        return Request(
            method=message.method,
            path=path,
            query=query_of(query),
            headers=message.headers,
            body=message.body,
            user=user,
            target=target,
            resource=resource,
        )

    def _answer(self, request: Request) -> Response:
        lost = cut = False
        for fault in tuple(self._faults):
            try:
                fault(request)
            except AnswerLostError:
                lost = True
            except AnswerCutError:
                cut = True
        self._access.check(request)
        response = self._handle(request)
        if lost:
            raise ConnectionEndedError
        return replace(response, cut=True) if cut else response

    def _handle(self, request: Request) -> Response:
        if request.method not in _METHODS:
            raise method_not_allowed()
        if request.target is None:
            if request.method != "GET":
                raise method_not_allowed()
            return self._discovery.answer(request)
        resource, target = request.resource, request.target
        if resource is None:
            raise unknown_path()
        handler = self._handler(request, resource)
        if resource.namespaced and not target.namespace and (target.name or request.verb == "create"):
            raise unknown_path()
        if not resource.namespaced and target.namespace:
            raise unknown_path()
        return handler(request, resource)

    def _handler(self, request: Request, resource: Resource) -> Handler:
        assert request.target is not None
        name, verb = request.target.subresource, request.verb
        if not name:
            if verb not in resource.verbs or (verb in _ON_COLLECTIONS) == bool(request.target.name):
                raise method_not_allowed()
            if resource.group in _REVIEW_GROUPS:
                return self._access.review
            return self._bind if resource.plural == "bindings" else self._handlers[""][verb]
        subresource = resource.subresource(name)
        if subresource is None:
            raise unknown_path()
        if verb not in subresource.verbs or name not in self._handlers:
            raise method_not_allowed()
        return self._handlers[name][verb]


def _refusal(error: StatusError) -> Response:
    headers = {"Retry-After": str(error.retry_after)} if error.retry_after else {}
    return Response(status=error.code, body=encode(error.body), headers=headers)
