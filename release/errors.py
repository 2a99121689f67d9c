"""Why there is no release."""


class ReleaseError(Exception):
    """Nothing was released; the text says why, and what to do."""
