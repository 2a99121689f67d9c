"""Machines as the kubelets run them."""

import logging
from collections.abc import Callable

from nodewright_fake.apiserver.status import StatusError
from nodewright_fake.controllers import Kubelets
from nodewright_fake.machine import Machine

_log = logging.getLogger(__name__)


class KubeletHosts:
    """Lets kubelets follow the cloud, also where somebody has meddled with the nodes meanwhile."""

    def __init__(self, kubelets: Kubelets) -> None:
        self._kubelets = kubelets

    def boot(self, machine: Machine) -> None:
        """Register the machine's node."""
        self._try(machine.name, lambda: self._kubelets.boot(machine))

    def shut_down(self, node_name: str) -> None:
        """Take the machine away, and its node with it."""
        self._try(node_name, lambda: self._kubelets.shut_down(node_name))

    def stop_reporting(self, node_name: str) -> None:
        """Let the machine's kubelet fall silent."""
        self._try(node_name, lambda: self._kubelets.stop_reporting(node_name))

    def resume_reporting(self, node_name: str) -> None:
        """Let the machine's kubelet be heard of again."""
        self._try(node_name, lambda: self._kubelets.resume_reporting(node_name))

    @staticmethod
    def _try(node_name: str, action: Callable[[], object]) -> None:
        try:
            action()
        except StatusError as error:
            _log.warning("machine %s: %s", node_name, error)
