"""HTTP without a client's help, to see exactly what the server says."""

import http.client
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit

PATIENCE_SECONDS = 5.0
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    content: bytes

    @property
    def body(self) -> Any:
        return json.loads(self.content)

    @property
    def items(self) -> list[str]:
        """The names in a list."""
        return [item["metadata"]["name"] for item in self.body["items"]]


class Raw:
    """One keep-alive connection; watches get connections of their own."""

    def __init__(self, url: str, **headers: str) -> None:
        self._host = urlsplit(url).netloc
        self._headers = headers
        self._connection = self._connect()
        self._watches: list[http.client.HTTPConnection] = []

    def _connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(self._host, timeout=PATIENCE_SECONDS)

    def close(self) -> None:
        for connection in (self._connection, *self._watches):
            connection.close()

    def send(self, method: str, path: str, body: Any = None, *, content_type: str = "", **headers: str) -> Answer:
        encoded = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        stated = {"Content-Type": content_type} if content_type else {}
        self._connection.request(method, path, encoded, {**self._headers, **headers, **stated})
        response = self._connection.getresponse()
        return Answer(response.status, dict(response.headers), response.read())

    def get(self, path: str, *, accept: str = "application/json", **query: Any) -> Answer:
        return self.send("GET", _with_query(path, query), Accept=accept)

    def post(self, path: str, body: Any) -> Answer:
        return self.send("POST", path, body)

    def patch(self, path: str, body: Any, kind: str = "merge-patch+json") -> Answer:
        return self.send("PATCH", path, body, content_type=f"application/{kind}")

    def watch(self, path: str, *, accept: str = "application/json", **query: Any) -> "Events":
        """Open a watch; the answer's head has come when this returns."""
        connection = self._connect()
        self._watches.append(connection)
        headers = {**self._headers, "Accept": accept}
        connection.request("GET", _with_query(path, {"watch": "true", **query}), headers=headers)
        return Events(connection.getresponse())


class Events:
    """The events of a watch, one after another; waits a few seconds for each, then fails."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status = response.status
        self._response = response

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return self

    def __next__(self) -> dict[str, Any]:
        line = self._response.readline()
        if not line:
            raise StopIteration
        return json.loads(line)

    def take(self, count: int) -> list[tuple[str, str]]:
        """The next events as pairs of type and name."""
        taken = [next(self) for _ in range(count)]
        return [(event["type"], event["object"]["metadata"].get("name", "")) for event in taken]

    def rest(self) -> bytes:
        """Everything up to the end; raises `http.client.IncompleteRead` if the server breaks off before."""
        return self._response.read()


def _with_query(path: str, query: dict[str, Any]) -> str:
    named = {"continue" if name == "continue_" else name: value for name, value in query.items()}
    return f"{path}?{urlencode(named)}" if named else path
