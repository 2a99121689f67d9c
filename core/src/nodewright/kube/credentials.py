"""Credentials for the API server: renewed when they expire, are refused, or when their files may have changed."""

from collections.abc import Callable
from dataclasses import replace
from threading import Lock
from time import monotonic, time

from urllib3.util import make_headers

from nodewright.api.errors import AccessDeniedError, ConfigurationError, Problem
from nodewright.kube.exec_plugin import ask
from nodewright.kube.kubeconfig import Access, User, cause_of
from nodewright.kube.proof import Proof

#: Seconds between two attempts to read refused credentials again.
_RENEWAL_SECONDS = 5.0
#: Seconds after which files are read again: whoever replaces them leaves the old content valid for longer.
_FILE_SECONDS = 60.0
#: A proof is renewed that many seconds before it expires, or for the last tenth of its life.
_SPARE_SECONDS, _SPARE_SHARE = 60.0, 0.1


class Credentials:
    """The proof that goes with requests. Safe to use from any thread.

    *load* reads the configuration again after they were refused. Raises `ConfigurationError` if there are none at all.
    """

    def __init__(self, access: Access, load: Callable[[], Access] | None = None) -> None:
        self._access = access
        self._load = load
        self._lock = Lock()
        #: When they were last renewed because they were refused.
        self._renewed = 0.0
        #: Until when, by the monotonic clock, the proof is good.
        self._until = 0.0
        #: Why they could not be renewed.
        self._complaint = ""
        self._proof = Proof()
        self._renew()
        if self._complaint:
            message = f"no credentials for the API server: {self._complaint}. Fix the user in the kubeconfig"
            raise ConfigurationError(Problem(message=message, path="kube.kubeconfig"))

    def proof(self) -> Proof:
        """Return the proof, a new one if the last has expired. Raises `AccessDeniedError` if there is none."""
        with self._lock:
            if monotonic() >= self._until:
                self._renew()
            if self._complaint:
                raise AccessDeniedError(f"no credentials for the API server: {self._complaint}")
            return self._proof

    def refused(self) -> str:
        """Read them again after the API server refused them; return why that failed, empty if it did not."""
        with self._lock:
            if self._load is None or monotonic() - self._renewed < _RENEWAL_SECONDS:
                return ""
            self._renewed = monotonic()
            try:
                self._access = self._load()
            except ConfigurationError as error:
                return str(error)
            self._until = 0.0
            return ""

    def _renew(self) -> None:
        try:
            self._proof, lasts = _proof_of(self._access)
            self._complaint = ""
        except (ValueError, OSError) as error:
            self._complaint = cause_of(error)
            # A failing plugin may be slow, so it is not run for every request.
            lasts = _RENEWAL_SECONDS
        self._until = monotonic() + lasts


def _proof_of(access: Access) -> tuple[Proof, float]:
    """Return a new proof and for how many seconds it is good. Raises `ValueError` and `OSError`."""
    user = access.user
    proof = Proof(authorization=_authorization(user), certificate=user.certificate.read(), key=user.key.read())
    if bool(proof.certificate) != bool(proof.key):
        raise ValueError("a client certificate needs its key, and a key its certificate")
    # As in the official clients, what is written out comes before what a plugin would tell.
    if user.plugin is None or proof.authorization:
        files = user.token.file or user.certificate.file or user.key.file
        return proof, _FILE_SECONDS if files else float("inf")
    told = ask(user.plugin, access.server)
    if not told.certificate:
        told = replace(told, certificate=proof.certificate, key=proof.key)
    if told.expires is None:
        return told, float("inf")
    left = told.expires - time()
    return told, left - min(_SPARE_SECONDS, _SPARE_SHARE * left)


def _authorization(user: User) -> str:
    if user.token:
        token = user.token.read().decode().strip()
        if not token:
            raise ValueError(f"the token in {user.token.file} is empty")
        return f"Bearer {token}"
    return make_headers(basic_auth=f"{user.name}:{user.password}")["authorization"] if user.name else ""
