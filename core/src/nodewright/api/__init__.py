"""The contract: all that a plugin may import from Nodewright, besides `nodewright.testing`.

Value types are frozen, keyword-only dataclasses, so that fields can be added; optional methods have defaults.
"""

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
    PermanentError,
    PluginError,
    Problem,
    SizeLimitError,
    TemporaryError,
    ThrottledError,
    UnsupportedError,
)
from nodewright.api.estimator import Estimate, Estimator
from nodewright.api.expander import Expander, ExpanderContext
from nodewright.api.group import GroupFacts, GroupOptions, NodeGroup
from nodewright.api.hookspecs import hookimpl
from nodewright.api.instance import ErrorClass, Instance, InstanceError, InstanceState
from nodewright.api.nearest import nearest
from nodewright.api.notice import Notice
from nodewright.api.option import Option, PodSet
from nodewright.api.plugin import API_VERSION, Plugin, PluginConfig
from nodewright.api.pricing import Prices, PricingModel
from nodewright.api.processor import Intended, PendingPodsProcessor, ProcessorContext, ScaleDownCandidatesProcessor
from nodewright.api.protection import DO_NOT_DISRUPT, is_protected, protected_until
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
from nodewright.objects.duration import parse_duration
from nodewright.objects.pod import SAFE_TO_EVICT

__all__ = [
    "API_VERSION",
    "DO_NOT_DISRUPT",
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
    "Evict",
    "Expander",
    "ExpanderContext",
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
    "NodeTemplate",
    "NodewrightError",
    "NotLeaderError",
    "Notice",
    "Option",
    "OptionVerdict",
    "Outcome",
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
    "Provider",
    "ProviderContext",
    "Reason",
    "ResourceLimits",
    "Resources",
    "Restore",
    "RuleKind",
    "ScaleDownCandidatesProcessor",
    "Shrink",
    "Simulation",
    "SizeLimitError",
    "Taint",
    "TemplateDifference",
    "TemporaryError",
    "ThrottledError",
    "Toleration",
    "UnsupportedError",
    "Verdict",
    "format_resource",
    "hookimpl",
    "is_protected",
    "nearest",
    "parse_duration",
    "parse_quantity",
    "parse_resources",
    "protected_until",
]
