"""Where the API server is and who we are there: read from kubeconfig files, or from the service account of this pod."""

import binascii
import os
from base64 import b64decode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec
import yaml

from nodewright.api.errors import ConfigurationError, Problem

_SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
_DEFAULT = "~/.kube/config"
#: The extension of a cluster that is meant for exec plugins.
_EXEC_EXTENSION = "client.authentication.k8s.io/exec"


@dataclass(frozen=True, kw_only=True)
class Content:
    """Bytes that are written out, or stand in a file, which may be replaced at any time."""

    data: bytes = field(default=b"", repr=False)
    file: str = ""

    def __bool__(self) -> bool:
        return bool(self.data or self.file)

    def read(self) -> bytes:
        """Return the bytes; empty if there are none. Raises `OSError` for a file that can't be read."""
        return self.data or (Path(self.file).read_bytes() if self.file else b"")


@dataclass(frozen=True, kw_only=True)
class Server:
    """An API server and the way to it."""

    url: str
    #: Certificates of authorities as PEM; those of the system if empty.
    authority: Content = Content()
    #: Whether its certificate is checked.
    verified: bool = True
    #: The name in its certificate, if it is not that in the URL.
    name: str = ""
    #: The proxy in front of it; empty: what the environment says.
    proxy: str = field(default="", repr=False)
    #: What the kubeconfig tells exec plugins about this cluster.
    exec_config: Any = None


@dataclass(frozen=True, kw_only=True)
class ExecPlugin:
    """A program that tells credentials."""

    api_version: str
    #: The program and its arguments.
    command: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    #: How to get the program, for whoever does not have it.
    install_hint: str = ""
    #: Whether it wants to know the cluster.
    wants_cluster: bool = False
    #: ``Never``, ``IfAvailable`` or ``Always``: whether it may ask the user at a terminal.
    interactive: str = "IfAvailable"


@dataclass(frozen=True, kw_only=True)
class User:
    """How somebody proves who they are: any of these, or none."""

    token: Content = Content()
    #: A client certificate and its key as PEM.
    certificate: Content = Content()
    key: Content = Content()
    name: str = ""
    password: str = field(default="", repr=False)
    plugin: ExecPlugin | None = None


@dataclass(frozen=True, kw_only=True)
class Access:
    """An API server, and who we are there."""

    server: Server
    user: User = User()


_EXEC_VERSIONS = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")
_INTERACTIVE = ("Never", "IfAvailable", "Always")


class _Named(msgspec.Struct):
    name: str


class _Extension(_Named):
    extension: Any = None


class _Cluster(msgspec.Struct, rename="kebab"):
    server: str = ""
    certificate_authority: str = ""
    certificate_authority_data: str = ""
    insecure_skip_tls_verify: bool = False
    tls_server_name: str = ""
    proxy_url: str = ""
    extensions: list[_Extension] = []


class _Variable(_Named):
    value: str = ""


class _Exec(msgspec.Struct, rename="camel"):
    api_version: str
    command: str
    args: list[str] = []
    env: list[_Variable] = []
    install_hint: str = ""
    provide_cluster_info: bool = False
    interactive_mode: str = "IfAvailable"


class _User(msgspec.Struct, rename="kebab"):
    token: str = ""
    token_file: str = msgspec.field(default="", name="tokenFile")
    client_certificate: str = ""
    client_certificate_data: str = ""
    client_key: str = ""
    client_key_data: str = ""
    username: str = ""
    password: str = ""
    exec: _Exec | None = None
    auth_provider: Any = None
    impersonated: str = msgspec.field(default="", name="as")


class _Context(msgspec.Struct):
    cluster: str = ""
    user: str = ""


class _ClusterEntry(_Named):
    cluster: _Cluster = msgspec.field(default_factory=_Cluster)


class _UserEntry(_Named):
    user: _User = msgspec.field(default_factory=_User)


class _ContextEntry(_Named):
    context: _Context = msgspec.field(default_factory=_Context)


class _Kubeconfig(msgspec.Struct, rename="kebab"):
    clusters: list[_ClusterEntry] = []
    users: list[_UserEntry] = []
    contexts: list[_ContextEntry] = []
    current_context: str = ""


def find_access(kubeconfig: str, server: str) -> Access:
    """Return the access by *kubeconfig*, else by the service account of this pod, else by the user's own kubeconfig.

    *server* replaces the address found there; outside of a pod it stands in for the user's own kubeconfig. Raises
    `ConfigurationError` if none of these can be used.
    """
    try:
        found = _found(kubeconfig, server)
    except (ValueError, OSError) as error:
        message = f"no access to the API server: {cause_of(error)}. Name a file with kube.kubeconfig or --kubeconfig"
        raise ConfigurationError(Problem(message=message, path="kube.kubeconfig")) from error
    return replace(found, server=replace(found.server, url=server.rstrip("/"))) if server else found


def cause_of(error: OSError | ValueError) -> str:
    """Return what went wrong, with the name of the file if it was one."""
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename}: {(error.strerror or '').lower()}"
    return str(error)


def _found(kubeconfig: str, server: str) -> Access:
    if kubeconfig:
        return _by_files([kubeconfig])
    if (in_pod := _in_pod()) is not None:
        return in_pod
    if server:
        return Access(server=Server(url=server))
    paths = [path for path in os.environ.get("KUBECONFIG", "").split(os.pathsep) if path]
    existing = [path for path in paths or [_DEFAULT] if Path(path).expanduser().exists()]
    if not existing:
        raise ValueError(f"this is no pod, and there is no kubeconfig at {' or '.join(paths or [_DEFAULT])}")
    return _by_files(existing)


def _in_pod() -> Access | None:
    """Return the access by this pod's service account; None outside of a pod, and in one without a token."""
    host, port = os.environ.get("KUBERNETES_SERVICE_HOST"), os.environ.get("KUBERNETES_SERVICE_PORT")
    token, authority = _SERVICE_ACCOUNT / "token", _SERVICE_ACCOUNT / "ca.crt"
    if not (host and port and token.is_file() and authority.is_file()):
        return None
    url = f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}"
    return Access(
        server=Server(url=url, authority=Content(file=str(authority))), user=User(token=Content(file=str(token)))
    )


def _by_files(paths: Sequence[str]) -> Access:
    """Return the access by the current context of kubeconfig files; the first that names something says what it is."""
    clusters: dict[str, Server] = {}
    users: dict[str, User] = {}
    contexts: dict[str, _Context] = {}
    current = ""
    for path in paths:
        file = Path(path).expanduser()
        config = _decoded(file)
        current = current or config.current_context
        contexts = {each.name: each.context for each in config.contexts} | contexts
        clusters = {each.name: _server(each.cluster, file) for each in config.clusters} | clusters
        users = {each.name: _user(each, file) for each in config.users} | users
    place = " and ".join(paths)
    if not current:
        raise ValueError(f"{place} has no current-context")
    context = contexts.get(current)
    if context is None or context.cluster not in clusters:
        missing = f"context {current!r}" if context is None else f"cluster {context.cluster!r} of context {current!r}"
        raise ValueError(f"{place} has no {missing}")
    if context.user and context.user not in users:
        raise ValueError(f"{place} has no user {context.user!r} of context {current!r}")
    return Access(server=clusters[context.cluster], user=users.get(context.user) or User())


def _decoded(file: Path) -> _Kubeconfig:
    try:
        return msgspec.convert(_without_nulls(yaml.safe_load(file.read_bytes())) or {}, _Kubeconfig)
    except msgspec.ValidationError as error:
        raise ValueError(f"{file}: {error}") from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise ValueError(f"{file} is no YAML: {' '.join(str(error).split())}") from None


def _without_nulls(found: Any) -> Any:
    """Return YAML without keys that have no value: programs write these for what is not set."""
    match found:
        case dict():
            return {key: _without_nulls(value) for key, value in found.items() if value is not None}
        case list():
            return [_without_nulls(each) for each in found]
    return found


def _server(cluster: _Cluster, file: Path) -> Server:
    url = cluster.server.rstrip("/")
    return Server(
        url=url if "://" in url or not url else f"https://{url}",
        authority=_content(cluster.certificate_authority_data, cluster.certificate_authority, file),
        verified=not cluster.insecure_skip_tls_verify,
        name=cluster.tls_server_name,
        proxy=cluster.proxy_url,
        exec_config=next((each.extension for each in cluster.extensions if each.name == _EXEC_EXTENSION), None),
    )


def _user(entry: _UserEntry, file: Path) -> User:
    user = entry.user
    # To leave these out would make us somebody else.
    if user.auth_provider is not None or user.impersonated:
        raise ValueError(
            f"{file}: user {entry.name!r} has auth-provider or as, which are not supported: name an exec plugin, such "
            "as kubelogin for OpenID Connect, or a user that needs no impersonation"
        )
    token = Content(file=_beside(file, user.token_file)) if user.token_file else Content(data=user.token.encode())
    return User(
        token=token,
        certificate=_content(user.client_certificate_data, user.client_certificate, file),
        key=_content(user.client_key_data, user.client_key, file),
        name=user.username,
        password=user.password,
        plugin=None if user.exec is None else _plugin(user.exec, entry.name, file),
    )


def _plugin(found: _Exec, user: str, file: Path) -> ExecPlugin:
    place = f"{file}: exec of user {user!r}"
    if found.api_version not in _EXEC_VERSIONS:
        known = " or ".join(_EXEC_VERSIONS)
        raise ValueError(f"{place} has apiVersion {found.api_version!r}, which no longer exists: write it for {known}")
    if found.interactive_mode not in _INTERACTIVE:
        raise ValueError(f"{place} has an interactiveMode that is none of {', '.join(_INTERACTIVE)}")
    # As a shell does: a name without a slash is looked for in the PATH.
    program = _beside(file, found.command) if os.sep in found.command else found.command
    return ExecPlugin(
        api_version=found.api_version,
        command=(program, *found.args),
        environment={each.name: each.value for each in found.env},
        install_hint=found.install_hint,
        wants_cluster=found.provide_cluster_info,
        interactive=found.interactive_mode,
    )


def _content(data: str, path: str, file: Path) -> Content:
    if not data:
        return Content(file=_beside(file, path))
    try:
        return Content(data=b64decode(data))
    except binascii.Error as error:
        raise ValueError(f"{file} has certificate or key data that is no base64: {error}") from None


def _beside(file: Path, path: str) -> str:
    """Return *path*, relative to the folder of *file*; empty for none."""
    return str(file.absolute().parent / Path(path).expanduser()) if path else ""
