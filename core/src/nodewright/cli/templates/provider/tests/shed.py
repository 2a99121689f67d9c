"""A shed to test against: a double of the cloud, with a server in this process."""

import json
from collections.abc import Mapping
from functools import partial
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from threading import Lock, Thread
from typing import Any

TOKEN = "open-sesame"
HARDWARE = {
    "labels": {
        "kubernetes.io/arch": "arm64",
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": "pi",
        "topology.kubernetes.io/zone": "shed",
    },
    "capacity": {"cpu": "4", "memory": "8Gi", "pods": "110"},
    "allocatable": {"cpu": "3900m", "memory": "7Gi", "pods": "110"},
}


class RefusalError(Exception):
    """Ends a request: with a status and what is said, or (status 0) without a word."""

    def __init__(self, status: int, said: object = "") -> None:
        super().__init__(status, said)
        self.status = status
        self.said = said


# EDIT: let it answer as your cloud does, with its own refusals. The suite asks for what can go wrong; leave out what
# your cloud never does.
class Shed:
    """Racks, the people who carry machines, and everything that can go wrong. A context in which its server runs."""

    def __init__(self) -> None:
        self.racks: dict[str, dict[str, Any]] = {}
        self.calls = 0
        self._numbers = count()
        self._lock = Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, self))
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self.heal()

    def heal(self) -> None:
        """End all faults."""
        #: What every request is told, and how many are answered before the network is gone.
        self.refusal: RefusalError | None = None
        self.answers_left: int | None = None
        #: Whether the answer to the next change gets lost.
        self.losing = False
        #: By rack: why orders are refused, why machines fail that were ordered, how many machines there are for it.
        self.refused: dict[str, str] = {}
        self.failing: dict[str, str] = {}
        self.stock: dict[str, int] = {}
        #: Racks to which nobody carries machines.
        self.forgotten: set[str] = set()

    def __enter__(self) -> "Shed":
        Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def add(self, name: str, *, size: int, least: int = 1, places: int = 8) -> None:
        """Put up a rack in which so many machines run."""
        self.racks[name] = {"min": least, "places": places, "wanted": size, "machines": {}, "hardware": HARDWARE}
        self.settle()

    def settle(self) -> None:
        """Let people finish: as many machines are there as are wanted, and run or have failed."""
        for name, rack in self.racks.items():
            staying = {id_: each for id_, each in rack["machines"].items() if each["state"] != "Deleting"}
            rack["machines"] = dict(list(staying.items())[: rack["wanted"]])
            self._begin(name)
            for machine in rack["machines"].values():
                if machine["state"] == "Creating":
                    self._finish(name, machine)

    def answer(self, method: str, path: str, token: str, body: Mapping[str, Any]) -> object:
        """Return what is said to a request, or raise a `RefusalError`."""
        with self._lock:
            self.calls += 1
            if self.answers_left is not None:
                if not self.answers_left:
                    raise RefusalError(0)
                self.answers_left -= 1
            if self.refusal:
                raise self.refusal
            if token != f"Bearer {TOKEN}":
                raise RefusalError(401, "unknown token")
            said = self._do(method, path.strip("/").split("/"), body)
            if self.losing and method != "GET":
                self.losing = False
                raise RefusalError(0)
            return said

    def _do(self, method: str, path: list[str], body: Mapping[str, Any]) -> object:
        match method, path:
            case "GET", ["racks"]:
                return {name: shown(rack) for name, rack in self.racks.items()}
            case _, ["racks", name, *_] if name not in self.racks:
                raise RefusalError(404, name)
            case "GET", ["racks", name]:
                return shown(self.racks[name])
            case _, ["racks", name, *_] if body["version"] != version(self.racks[name]):
                raise RefusalError(409, name)
            case "PATCH", ["racks", name]:
                self._want(name, body["wanted"])
            case "POST", ["racks", name, "removals"]:
                self._remove(name, body["machines"])
            case _:
                raise RefusalError(400, f"{method} {path}")
        return shown(self.racks[name])

    def _want(self, name: str, machines: int) -> None:
        rack = self.racks[name]
        if machines > rack["wanted"] and name in self.refused:
            raise RefusalError(507, self.refused[name])
        rack["wanted"] = machines
        self._begin(name)

    def _remove(self, name: str, machines: list[str]) -> None:
        rack = self.racks[name]
        for machine in machines:
            rack["machines"][machine]["state"] = "Deleting"
        rack["wanted"] -= len(machines)

    def _begin(self, name: str) -> None:
        """Begin to carry in what is missing."""
        rack = self.racks[name]
        there = sum(machine["state"] != "Deleting" for machine in rack["machines"].values())
        if name not in self.forgotten:
            for _ in range(rack["wanted"] - there):
                rack["machines"][f"shed://{name}/machine-{next(self._numbers)}"] = {"state": "Creating"}

    def _finish(self, name: str, machine: dict[str, str]) -> None:
        """Have a machine run; or fail, if there is a reason."""
        left = self.stock.get(name)
        why = self.failing.get(name) or ("no-machines" if left == 0 else "")
        if left:
            self.stock[name] = left - 1
        machine.update({"state": "Failed", "code": why} if why else {"state": "Running"})


def shown(rack: Mapping[str, object]) -> Mapping[str, object]:
    """The rack as the API shows it."""
    return {**rack, "version": version(rack)}


def version(rack: Mapping[str, object]) -> str:
    """What changes whenever anything in the rack does."""
    return sha256(json.dumps(rack).encode()).hexdigest()


class _Handler(BaseHTTPRequestHandler):
    """One connection."""

    def __init__(self, shed: Shed, *connection: Any) -> None:
        self._shed = shed
        super().__init__(*connection)

    def handle_one_request(self) -> None:
        """Read a request and answer it; hang up if the shed says nothing."""
        self.raw_requestline = self.rfile.readline()
        if not self.parse_request():
            return
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or "null")
        status, said = 200, ""
        try:
            said = json.dumps(self._shed.answer(self.command, self.path, self.headers["Authorization"], body or {}))
        except RefusalError as refusal:
            status, said = refusal.status, str(refusal.said)
        if status:
            self.send_response(status)
            if status == 429:
                self.send_header("Retry-After", "7")
            self.end_headers()
            self.wfile.write(said.encode())

    def log_message(self, *said: object) -> None:
        """Say nothing."""
