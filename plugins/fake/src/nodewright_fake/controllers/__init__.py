"""What acts in the embedded cluster: scheduler, kubelets and the controllers of workloads, nodes and budgets."""

from typing import Protocol

from nodewright_fake.apiserver.store import Change


class Controller(Protocol):
    """One actor. Both methods are quick; `reconcile` runs on the world's thread only."""

    def observe(self, change: Change) -> None:
        """Note what has to be looked at. Called with the store locked: must not write."""
        ...

    def reconcile(self) -> bool:
        """Do what is to be done; tell whether anything was written. Called until no controller writes any more."""
        ...
