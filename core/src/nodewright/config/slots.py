"""Types of the settings that take plugins."""

from typing import Annotated

from pydantic import BeforeValidator

from nodewright.api.drain_rule import DrainRule
from nodewright.api.estimator import Estimator
from nodewright.api.expander import Expander
from nodewright.api.plugin import Plugin
from nodewright.api.pricing import Prices
from nodewright.api.processor import PendingPodsProcessor, ScaleDownCandidatesProcessor
from nodewright.api.provider import Provider
from nodewright.config.reference import Reference, Slot
from nodewright.config.values import read_names

Providers = Annotated[tuple[Reference, ...], BeforeValidator(read_names), Slot(kind="providers", base=Provider)]
Expanders = Annotated[tuple[Reference, ...], BeforeValidator(read_names), Slot(kind="expanders", base=Expander)]
ChosenEstimator = Annotated[Reference, Slot(kind="estimators", base=Estimator)]
PendingPodsSteps = Annotated[
    tuple[Reference, ...], BeforeValidator(read_names), Slot(kind="processors", base=PendingPodsProcessor)
]
ScaleDownCandidatesSteps = Annotated[
    tuple[Reference, ...], BeforeValidator(read_names), Slot(kind="processors", base=ScaleDownCandidatesProcessor)
]
DrainRules = Annotated[tuple[Reference, ...], BeforeValidator(read_names), Slot(kind="drain_rules", base=DrainRule)]
PriceModels = Annotated[tuple[Reference, ...], BeforeValidator(read_names), Slot(kind="prices", base=Prices)]
Hooks = Annotated[tuple[Reference, ...], BeforeValidator(read_names), Slot(kind="hooks", base=Plugin)]
