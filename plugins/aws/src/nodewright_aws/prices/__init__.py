"""What machines cost."""

from nodewright_aws.prices.settings import OverlayRule, PriceSettings

__all__ = ["OverlayRule", "PriceSettings"]
