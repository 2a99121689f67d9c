"""Generated scenarios: small clusters by seed, in the format of scenario files, in which all that decisions read meets.

Nothing here imports Nodewright: what a seed makes stays the same while the code changes that decides about it.
"""

from .scenario import generated

__all__ = ["generated"]
