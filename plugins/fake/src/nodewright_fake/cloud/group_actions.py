"""Groups and prices that somebody changes."""

from pydantic import Field

from nodewright_fake.cloud.action import Action
from nodewright_fake.cloud.cloud import Cloud
from nodewright_fake.names import GroupName, InstanceTypeName


class Resize(Action):
    """Somebody changes a group's bounds or size behind the autoscaler's back."""

    summary = "change a group's bounds or size by hand"

    group: GroupName
    min: int | None = Field(default=None, ge=0)
    max: int | None = Field(default=None, ge=0)
    desired: int | None = Field(default=None, ge=0)

    def apply(self, cloud: Cloud) -> None:
        """Change them."""
        cloud.resize(self.group, minimum=self.min, maximum=self.max, desired=self.desired)


class SetPrice(Action):
    """An instance type has another price from now on; machines that run keep theirs."""

    summary = "change the price of an instance type"

    type: InstanceTypeName
    price: float | None = Field(default=None, ge=0)
    spot_price: float | None = Field(default=None, ge=0)

    def apply(self, cloud: Cloud) -> None:
        """Change it."""
        with cloud.lock:
            changes = {"price": self.price, "spot_price": self.spot_price}
            given = {name: price for name, price in changes.items() if price is not None}
            cloud.instance_types[self.type] = cloud.instance_types[self.type].model_copy(update=given)
