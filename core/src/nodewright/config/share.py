"""Shares: so many of something, or so much of it in per cent."""

import re
from dataclasses import dataclass

from nodewright.config.wording import written

_PERCENT = re.compile(r"([0-9]{1,3})%")


@dataclass(frozen=True, kw_only=True)
class Share:
    """A number, or a part of a total in per cent."""

    amount: int
    percent: bool = False

    def of(self, total: int) -> int:
        """Return how many that is of *total*; a part is rounded up, so that it is none only if it is 0 %."""
        return -(-self.amount * total // 100) if self.percent else self.amount

    def __str__(self) -> str:
        return f"{self.amount}%" if self.percent else str(self.amount)


def read_share(value: object) -> Share:
    """Return the share that a setting says: ``5`` or ``"10%"``. Raises `ValueError` for anything else."""
    if isinstance(value, Share):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        if value < 0:
            raise ValueError("must not be negative")
        return Share(amount=value)
    percent = _PERCENT.fullmatch(value) if isinstance(value, str) else None
    if percent is None or int(percent[1]) > 100:
        raise ValueError(f"write a number such as 5, or a part such as 10%, not {written(value)}")
    return Share(amount=int(percent[1]), percent=True)


def write_share(share: Share) -> int | str:
    """Return what `read_share` reads as *share*."""
    return str(share) if share.percent else share.amount
