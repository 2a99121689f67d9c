"""Refusals of AWS as errors of the contract."""

from collections.abc import Iterator
from contextlib import contextmanager

from nodewright.api import AccessDeniedError, CloudUnavailableError, PermanentError, ThrottledError

_THROTTLED = frozenset({"Throttling", "ThrottlingException", "RequestLimitExceeded", "TooManyRequestsException"})
_DENIED = frozenset({"AccessDenied", "AccessDeniedException", "UnauthorizedOperation", "AuthFailure", "ExpiredToken"})


@contextmanager
def in_our_words(service: str, operation: str) -> Iterator[None]:
    """Turn what boto3 raises inside into `NodewrightError`."""
    from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError

    try:
        yield
    except ClientError as error:
        code = error.response["Error"]["Code"]
        if code in _THROTTLED:
            raise ThrottledError(str(error)) from error
        if code in _DENIED:
            raise AccessDeniedError(f"AWS refuses {service}:{operation}: {error}") from error
        if error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0) >= 500:
            raise CloudUnavailableError(str(error)) from error
        raise PermanentError(str(error)) from error
    except NoCredentialsError as error:
        raise AccessDeniedError(f"no credentials for AWS were found: {error}") from error
    except BotoCoreError as error:
        raise CloudUnavailableError(f"AWS did not answer {service}:{operation}: {error}") from error
