"""The contract: all that a plugin may import from Nodewright, besides `nodewright.testing`.

Value types are frozen, keyword-only dataclasses, so that fields can be added; optional methods have defaults. What pods
and nodes are made of is in `nodewright.api.objects`.
"""

from nodewright.api.attribute_docs import show_attributes
from nodewright.api.clock import Clock
from nodewright.api.command import Command
from nodewright.api.decision import (
    Answer,
    Decision,
    DeleteInstances,
    Drain,
    Evict,
    Grow,
    OptionVerdict,
    Outcome,
    Restore,
    Shrink,
    SoftTaint,
    SoftUntaint,
)
from nodewright.api.drain_rule import ControllerFacts, DrainContext, DrainRule, DrainSettings, PodFate
from nodewright.api.errors import (
    AccessDeniedError,
    ApiServerError,
    CapacityError,
    CloudUnavailableError,
    ConfigurationError,
    ConflictError,
    ForeignNodeError,
    GroupNotFoundError,
    NodewrightError,
    NotLeaderError,
    PartialIncreaseError,
    PermanentError,
    PluginError,
    Problem,
    Right,
    SizeLimitError,
    TemporaryError,
    ThrottledError,
    UnsupportedError,
    WithheldError,
)
from nodewright.api.estimator import Estimate, Estimator
from nodewright.api.expander import Expander, ExpanderContext
from nodewright.api.group import GroupFacts, GroupOptions, NodeGroup, Pause
from nodewright.api.hookspecs import (
    EstimatorHooks,
    ExpanderHooks,
    NodeGroupHooks,
    NodeTemplateHooks,
    Observers,
    ProcessorHooks,
    RemovalHooks,
    hookimpl,
)
from nodewright.api.instance import ErrorClass, Instance, InstanceError, InstanceState
from nodewright.api.json import from_json, to_json
from nodewright.api.nearest import nearest
from nodewright.api.notice import Notice
from nodewright.api.option import Option, PodSet
from nodewright.api.plugin import API_VERSION, Plugin, PluginConfig
from nodewright.api.pricing import Prices, PricingModel
from nodewright.api.processor import Intended, PendingPodsProcessor, ProcessorContext, ScaleDownCandidatesProcessor
from nodewright.api.protection import DO_NOT_DISRUPT, KARPENTER_DO_NOT_DISRUPT, is_protected, protected_until
from nodewright.api.provider import Capability, GpuConfig, GroupSpec, Provider, ProviderContext, ResourceLimits
from nodewright.api.reasons import Reason
from nodewright.api.simulation import PlacementRule, RuleKind, Simulation
from nodewright.api.template import NodeTemplate, TemplateDifference
from nodewright.api.verdict import Verdict
from nodewright.objects import (
    DaemonSet,
    Node,
    Pod,
    Resources,
    Taint,
    Toleration,
    format_resource,
    parse_quantity,
    parse_resources,
)
from nodewright.objects.duration import format_duration, parse_duration
from nodewright.objects.pod import SAFE_TO_EVICT

__all__ = [
    "API_VERSION",
    "DO_NOT_DISRUPT",
    "KARPENTER_DO_NOT_DISRUPT",
    "SAFE_TO_EVICT",
    "AccessDeniedError",
    "Answer",
    "ApiServerError",
    "Capability",
    "CapacityError",
    "Clock",
    "CloudUnavailableError",
    "Command",
    "ConfigurationError",
    "ConflictError",
    "ControllerFacts",
    "DaemonSet",
    "Decision",
    "DeleteInstances",
    "Drain",
    "DrainContext",
    "DrainRule",
    "DrainSettings",
    "ErrorClass",
    "Estimate",
    "Estimator",
    "EstimatorHooks",
    "Evict",
    "Expander",
    "ExpanderContext",
    "ExpanderHooks",
    "ForeignNodeError",
    "GpuConfig",
    "GroupFacts",
    "GroupNotFoundError",
    "GroupOptions",
    "GroupSpec",
    "Grow",
    "Instance",
    "InstanceError",
    "InstanceState",
    "Intended",
    "Node",
    "NodeGroup",
    "NodeGroupHooks",
    "NodeTemplate",
    "NodeTemplateHooks",
    "NodewrightError",
    "NotLeaderError",
    "Notice",
    "Observers",
    "Option",
    "OptionVerdict",
    "Outcome",
    "PartialIncreaseError",
    "Pause",
    "PendingPodsProcessor",
    "PermanentError",
    "PlacementRule",
    "Plugin",
    "PluginConfig",
    "PluginError",
    "Pod",
    "PodFate",
    "PodSet",
    "Prices",
    "PricingModel",
    "Problem",
    "ProcessorContext",
    "ProcessorHooks",
    "Provider",
    "ProviderContext",
    "Reason",
    "RemovalHooks",
    "ResourceLimits",
    "Resources",
    "Restore",
    "Right",
    "RuleKind",
    "ScaleDownCandidatesProcessor",
    "Shrink",
    "Simulation",
    "SizeLimitError",
    "SoftTaint",
    "SoftUntaint",
    "Taint",
    "TemplateDifference",
    "TemporaryError",
    "ThrottledError",
    "Toleration",
    "UnsupportedError",
    "Verdict",
    "WithheldError",
    "format_duration",
    "format_resource",
    "from_json",
    "hookimpl",
    "is_protected",
    "nearest",
    "parse_duration",
    "parse_quantity",
    "parse_resources",
    "protected_until",
    "to_json",
]

show_attributes(vars(), __all__)
