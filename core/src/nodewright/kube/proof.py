"""Proofs of who we are, as they go with requests."""

from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Proof:
    """What the API server is shown. Everything may be empty."""

    #: The value of the header of this name.
    authorization: str = field(default="", repr=False)
    #: A client certificate and its key as PEM.
    certificate: bytes = field(default=b"", repr=False)
    key: bytes = field(default=b"", repr=False)
    #: When it expires, in seconds since 1970; None if that was not told.
    expires: float | None = None
