"""Exec plugins: programs named in a kubeconfig, which tell credentials for a while."""

import json
import os
import subprocess
import sys
from base64 import b64encode
from datetime import datetime
from typing import Any

import msgspec

from nodewright.kube.kubeconfig import ExecPlugin, Server
from nodewright.kube.proof import Proof

#: A program that nobody can answer gives up by itself, or not at all.
_PATIENCE_SECONDS = 60.0


class _Status(msgspec.Struct, rename="camel"):
    token: str = ""
    client_certificate_data: str = ""
    client_key_data: str = ""
    expiration_timestamp: str = ""


class _Answer(msgspec.Struct, rename="camel"):
    api_version: str
    kind: str
    status: _Status


def ask(plugin: ExecPlugin, server: Server) -> Proof:
    """Run *plugin* for *server* and return what it tells. Raises `ValueError` or `OSError` that says what is wrong."""
    interactive = plugin.interactive != "Never" and sys.stdin is not None and sys.stdin.isatty()
    name = plugin.command[0]
    if plugin.interactive == "Always" and not interactive:
        raise ValueError(f"exec plugin {name} wants to ask somebody, and there is no terminal")
    spec: dict[str, Any] = {"interactive": interactive}
    if plugin.wants_cluster:
        spec["cluster"] = _told_cluster(server)
    information = {"apiVersion": plugin.api_version, "kind": "ExecCredential", "spec": spec}
    try:
        done = subprocess.run(
            plugin.command,
            env={**os.environ, **plugin.environment, "KUBERNETES_EXEC_INFO": json.dumps(information)},
            stdin=None if interactive else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            # Whoever is asked has to see the question.
            stderr=None if interactive else subprocess.PIPE,
            timeout=None if interactive else _PATIENCE_SECONDS,
            check=False,
        )
    except FileNotFoundError:
        hint = f": {' '.join(plugin.install_hint.split())}" if plugin.install_hint else ""
        raise ValueError(f"exec plugin {name} is not installed{hint}") from None
    except subprocess.TimeoutExpired:
        raise ValueError(f"exec plugin {name} did not end within {_PATIENCE_SECONDS:g} s") from None
    if done.returncode:
        said = (done.stderr or b"").decode(errors="replace").strip()
        raise ValueError(f"exec plugin {name} ended with status {done.returncode}" + (f": {said}" if said else ""))
    return _read(plugin, done.stdout)


def _told_cluster(server: Server) -> dict[str, Any]:
    told = {
        "server": server.url,
        "tls-server-name": server.name,
        "insecure-skip-tls-verify": not server.verified,
        "certificate-authority-data": b64encode(server.authority.read()).decode(),
        "proxy-url": server.proxy,
        "config": server.exec_config,
    }
    return {key: value for key, value in told.items() if value}


def _read(plugin: ExecPlugin, output: bytes) -> Proof:
    name = plugin.command[0]
    try:
        answer = msgspec.json.decode(output, type=_Answer)
    except msgspec.DecodeError as error:
        raise ValueError(f"exec plugin {name} told no ExecCredential: {error}") from None
    if (answer.api_version, answer.kind) != (plugin.api_version, "ExecCredential"):
        told = f"{answer.kind} of {answer.api_version}"
        raise ValueError(f"exec plugin {name} told {told}, and the kubeconfig wants {plugin.api_version}")
    status = answer.status
    if not status.token and not status.client_certificate_data:
        raise ValueError(f"exec plugin {name} told neither a token nor a certificate")
    if bool(status.client_certificate_data) != bool(status.client_key_data):
        raise ValueError(f"exec plugin {name} told a certificate without its key, or the other way round")
    return Proof(
        authorization=f"Bearer {status.token}" if status.token else "",
        certificate=status.client_certificate_data.encode(),
        key=status.client_key_data.encode(),
        expires=_seconds(name, status.expiration_timestamp) if status.expiration_timestamp else None,
    )


def _seconds(name: str, text: str) -> float:
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        raise ValueError(f"exec plugin {name} told an expirationTimestamp that is no time: {text!r}") from None
