"""Who may do what: tokens, a hook that refuses, and the questions that clients ask about their rights."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from nodewright_fake.apiserver.document import Object, encode
from nodewright_fake.apiserver.request import Request, Target
from nodewright_fake.apiserver.resources import Resource
from nodewright_fake.apiserver.status import StatusError, forbidden, unauthorized
from nodewright_fake.apiserver.wire import Response

ADMINISTRATOR = "kubernetes-admin"

#: Returns None to allow a request, or the reason for refusing it (empty for none).
Authorizer = Callable[[Request], str | None]

_METHODS = {"create": "POST", "update": "PUT", "patch": "PATCH", "delete": "DELETE", "deletecollection": "DELETE"}


class Access:
    """Authentication and authorisation. Without tokens everybody is the administrator."""

    def __init__(self, tokens: Mapping[str, str], authorize: Authorizer | None) -> None:
        self._tokens = tokens
        self.authorize = authorize

    def user(self, headers: Mapping[str, str]) -> str:
        """Return who sends a request. Raises `StatusError` 401."""
        if not self._tokens:
            return ADMINISTRATOR
        scheme, _, token = headers.get("authorization", "").partition(" ")
        user = self._tokens.get(token.strip()) if scheme.lower() == "bearer" else None
        if user is None:
            raise unauthorized()
        return user

    def check(self, request: Request) -> None:
        """Raise `StatusError` 403 in Kubernetes' words if the request is refused."""
        reason = self.authorize(request) if self.authorize else None
        if reason is not None:
            raise _refusal(request, reason)

    def review(self, request: Request, resource: Resource) -> Response:
        """Answer a client's question about itself."""
        review = request.document()
        match resource.plural:
            case "selfsubjectaccessreviews":
                review["status"] = self._access(request, review.get("spec") or {})
            case "selfsubjectrulesreviews":
                review["status"] = {
                    "resourceRules": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}],
                    "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
                    "incomplete": self.authorize is not None,
                }
            case _:
                review["status"] = {"userInfo": {"username": request.user, "groups": ["system:authenticated"]}}
        body = {"kind": resource.kind, "apiVersion": resource.api_version, "metadata": {}, **review}
        return Response(status=201, body=encode(body))

    def _access(self, asked: Request, spec: Object) -> Object:
        reason = self.authorize(_imagined(asked, spec)) if self.authorize else None
        return {"allowed": True} if reason is None else {"allowed": False, "denied": True, "reason": reason}


def _imagined(asked: Request, spec: Object) -> Request:
    """Return the request that an access review asks about."""
    wanted = spec.get("resourceAttributes")
    if wanted is None:
        other = spec.get("nonResourceAttributes") or {}
        return replace(asked, method="GET", path=other.get("path", "/"), target=None, resource=None)
    verb = wanted.get("verb", "get")
    target = Target(
        group=wanted.get("group", ""),
        version=wanted.get("version", ""),
        plural=wanted.get("resource", ""),
        namespace=wanted.get("namespace", ""),
        name=wanted.get("name", "") or ("*" if verb in ("get", "update", "patch", "delete") else ""),
        subresource=wanted.get("subresource", ""),
    )
    query = {"watch": "true"} if verb == "watch" else {}
    return replace(asked, method=_METHODS.get(verb, "GET"), path="", query=query, target=target, resource=None)


def _refusal(request: Request, reason: str) -> StatusError:
    target, because = request.target, f": {reason}" if reason else ""
    who = f'User "{request.user}" cannot {request.verb}'
    if target is None:
        return StatusError(403, "Forbidden", f'forbidden: {who} path "{request.path}"{because}')
    resource = f"{target.plural}/{target.subresource}" if target.subresource else target.plural
    qualified = f"{target.plural}.{target.group}" if target.group else target.plural
    scope = f'in the namespace "{target.namespace}"' if target.namespace else "at the cluster scope"
    return forbidden(
        qualified, target.name, f'{who} resource "{resource}" in API group "{target.group}" {scope}{because}'
    )
