"""The conformance suite of providers and their node groups, by theme."""

from nodewright.testing.conformance.provider.base import ProviderSuite
from nodewright.testing.conformance.provider.calls import CallsConformance, ClosingConformance
from nodewright.testing.conformance.provider.concurrency import ConcurrencyConformance
from nodewright.testing.conformance.provider.crash import CrashConformance
from nodewright.testing.conformance.provider.declaration import DeclarationConformance
from nodewright.testing.conformance.provider.decrease import DecreaseConformance
from nodewright.testing.conformance.provider.deletion import DeletionConformance, PartialDeletionConformance
from nodewright.testing.conformance.provider.facts import FactsConformance
from nodewright.testing.conformance.provider.faults import (
    ActionFaultConformance,
    OtherActionFaultConformance,
    RefreshFaultConformance,
)
from nodewright.testing.conformance.provider.growth import GrowthConformance
from nodewright.testing.conformance.provider.identity import IdentityConformance
from nodewright.testing.conformance.provider.instances import (
    FailureConformance,
    InstancesConformance,
    LifeConformance,
)
from nodewright.testing.conformance.provider.interventions import IncarnationConformance, PauseConformance
from nodewright.testing.conformance.provider.lateness import LatenessConformance
from nodewright.testing.conformance.provider.options import OptionsConformance
from nodewright.testing.conformance.provider.prices import PricesConformance
from nodewright.testing.conformance.provider.refreshing import RefreshConformance
from nodewright.testing.conformance.provider.shortages import QuotaConformance, ShortageConformance
from nodewright.testing.conformance.provider.targetless import TargetlessConformance
from nodewright.testing.conformance.provider.templates import TemplateConformance
from nodewright.testing.conformance.provider.truth import TruthConformance


class ProviderConformance(
    DeclarationConformance,
    IdentityConformance,
    FactsConformance,
    InstancesConformance,
    TemplateConformance,
    OptionsConformance,
    PricesConformance,
    QuotaConformance,
    PauseConformance,
    IncarnationConformance,
    RefreshConformance,
    RefreshFaultConformance,
    CallsConformance,
    ClosingConformance,
    GrowthConformance,
    ShortageConformance,
    DeletionConformance,
    PartialDeletionConformance,
    DecreaseConformance,
    TargetlessConformance,
    LifeConformance,
    FailureConformance,
    ActionFaultConformance,
    OtherActionFaultConformance,
    CrashConformance,
    TruthConformance,
    LatenessConformance,
    ConcurrencyConformance,
):
    """All that the core relies on in a provider and its node groups."""


__all__ = ["ProviderConformance", "ProviderSuite"]
