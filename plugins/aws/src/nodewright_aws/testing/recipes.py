"""What `AwsDouble.make_group` makes, in boto3's form."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_IMAGE = "ami-0123456789abcdef0"


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """What a group launches."""

    name: str
    instance_type: str
    spot: bool = False
    types: tuple[str, ...] = ()
    requirements: Mapping[str, Any] | None = None
    on_demand_base: int = 0
    on_demand_percent: int | None = None
    template: Mapping[str, Any] = field(default_factory=dict)
    configuration: Mapping[str, Any] | None = None

    def launch_configuration(self) -> dict[str, Any]:
        """Arguments of ``create_launch_configuration``."""
        spot = {"SpotPrice": "1.0"} if self.spot else {}
        base = {"LaunchConfigurationName": self.name, "ImageId": _IMAGE, "InstanceType": self.instance_type}
        return base | spot | dict(self.configuration or {})

    def launch_template(self) -> dict[str, Any]:
        """Arguments of ``create_launch_template``."""
        data: dict[str, Any] = {"ImageId": _IMAGE, "InstanceType": self.instance_type, **self.template}
        if self.spot and not self._mixed:
            data["InstanceMarketOptions"] = {"MarketType": "spot"}
        if "UserData" in data:
            data["UserData"] = base64.b64encode(data["UserData"].encode()).decode()
        return {"LaunchTemplateName": f"launch-{self.name}", "LaunchTemplateData": data}

    def source(self) -> dict[str, Any]:
        """The arguments of ``create_auto_scaling_group`` that define what is launched."""
        if self.configuration is not None:
            return {"LaunchConfigurationName": self.name}
        template = {"LaunchTemplateName": f"launch-{self.name}", "Version": "$Default"}
        if not self._mixed:
            return {"LaunchTemplate": template}
        overrides: list[dict[str, Any]] = [{"InstanceType": name} for name in self.types]
        if self.requirements is not None:
            overrides.append({"InstanceRequirements": self.requirements})
        percent = self.on_demand_percent
        if percent is None:
            percent = 0 if self.spot else 100
        return {
            "MixedInstancesPolicy": {
                "LaunchTemplate": {"LaunchTemplateSpecification": template, "Overrides": overrides},
                "InstancesDistribution": {
                    "OnDemandAllocationStrategy": "prioritized",
                    "OnDemandBaseCapacity": self.on_demand_base,
                    "OnDemandPercentageAboveBaseCapacity": percent,
                    "SpotAllocationStrategy": "price-capacity-optimized",
                },
            }
        }

    @property
    def _mixed(self) -> bool:
        return bool(self.types) or self.requirements is not None
