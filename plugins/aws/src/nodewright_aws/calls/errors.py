"""Errors of AWS and the SDK, as errors of the contract."""

import re
from typing import Any

from nodewright.api import (
    AccessDeniedError,
    CloudUnavailableError,
    ConfigurationError,
    ForeignNodeError,
    GroupNotFoundError,
    NodewrightError,
    PermanentError,
    Problem,
    SizeLimitError,
    TemporaryError,
    ThrottledError,
)

from nodewright_aws.calls.rights import action_of

_THROTTLED = frozenset(
    {
        "BandwidthLimitExceeded",
        "EC2ThrottledException",
        "LimitExceededException",
        "PriorRequestNotComplete",
        "RequestLimitExceeded",
        "RequestThrottled",
        "RequestThrottledException",
        "SlowDown",
        "ThrottledException",
        "Throttling",
        "ThrottlingException",
        "TooManyRequestsException",
    }
)
_EXPIRED = frozenset(
    {"ExpiredToken", "ExpiredTokenException", "RequestExpired", "RequestInTheFuture", "TokenRefreshRequired"}
)
#: In the message of a wrong signature, if only the clock is wrong.
_CLOCK = re.compile(r"signature (expired|not yet current)", re.I)
_UNKNOWN_CREDENTIALS = frozenset(
    {
        "AuthFailure",
        "IncompleteSignature",
        "IncompleteSignatureException",
        "InvalidAccessKeyId",
        "InvalidClientTokenId",
        "InvalidIdentityToken",
        "InvalidSignatureException",
        "MissingAuthenticationToken",
        "MissingAuthenticationTokenException",
        "SignatureDoesNotMatch",
        "UnrecognizedClient",
        "UnrecognizedClientException",
    }
)
_DENIED = frozenset(
    {
        "AccessDenied",
        "AccessDeniedException",
        "AuthorizationError",
        "Client.UnauthorizedOperation",
        "NotAuthorized",
        "UnauthorizedAccess",
        "UnauthorizedOperation",
    }
)
_NOT_SUBSCRIBED = frozenset({"Blocked", "OptInRequired", "PendingVerification", "SubscriptionRequiredException"})
_BUSY = frozenset(
    {
        "IdempotentCallInProgress",
        "InstanceRefreshInProgress",
        "ResourceContention",
        "ResourceInUse",
        "ScalingActivityInProgress",
    }
)
#: AWS does not know the token of a page any more, or not yet.
_LOST_PLACE = frozenset({"InvalidNextToken", "InvalidPaginationToken", "ExpiredNextTokenException"})
_DOWN = frozenset(
    {
        "InternalError",
        "InternalFailure",
        "InternalServerError",
        "RequestTimeout",
        "RequestTimeoutException",
        "ServiceUnavailable",
        "ServiceUnavailableException",
        "Unavailable",
    }
)

#: Messages of Auto Scaling with the code ValidationError, which it uses for almost everything.
_VALIDATION: tuple[tuple[re.Pattern[str], type[NodewrightError]], ...] = (
    (re.compile(r"(AutoScalingGroup|Group) .*not found|AutoScalingGroup name not found", re.I), GroupNotFoundError),
    (
        re.compile(r"Instance Id not found|No managed instance found|not part of Auto Scaling group", re.I),
        ForeignNodeError,
    ),
    (
        re.compile(
            r"(above|greater than) (the )?max|(below|less than) (the )?min|desiredSize equals minSize|"
            r"violate group's m(in|ax)|would (violate|exceed) .*(min|max)",
            re.I,
        ),
        SizeLimitError,
    ),
    (re.compile(r"pending delete|is not in a valid state|not in InService", re.I), TemporaryError),
)

#: Exceptions of botocore, by name: importing them takes a fifth of a second.
_NO_CREDENTIALS = frozenset(
    {
        "CredentialRetrievalError",
        "LoginError",
        "NoAuthTokenError",
        "NoCredentialsError",
        "PartialCredentialsError",
        "RefreshWithMFAUnsupportedError",
        "SSOError",
        "TokenRetrievalError",
        "UnknownCredentialError",
    }
)
_MISCONFIGURED = frozenset(
    {
        "BaseEndpointResolverError",
        "ConfigNotFound",
        "ConfigParseError",
        "EndpointProviderError",
        "InvalidConfigError",
        "InvalidDefaultsMode",
        "InvalidEndpointConfigurationError",
        "InvalidIMDSEndpointError",
        "InvalidIMDSEndpointModeError",
        "InvalidProxiesConfigError",
        "InvalidRegionError",
        "InvalidRetryConfigurationError",
        "InvalidSTSRegionalEndpointsConfigError",
        "MissingDependencyException",
        "ProfileNotFound",
        "UnknownRegionError",
        "UnknownServiceError",
    }
)
#: Length of a message that may not come from AWS.
_LONGEST = 200
_MISTAKES = frozenset({"OperationNotPageableError", "ParamValidationError", "ValidationError"})


#: After these errors, the next call would fail in the same way, and late.
HOPELESS = (AccessDeniedError, CloudUnavailableError, ThrottledError)


def code_of(error: Exception) -> str:
    """Return the error code of AWS; ``error`` if AWS did not answer."""
    return str(_answer(error).get("Error", {}).get("Code") or "error")


def retries_of(error: Exception) -> int:
    """Return how many times the SDK retried."""
    return int(_answer(error).get("ResponseMetadata", {}).get("RetryAttempts", 0))


def translate(error: Exception, service: str, operation: str) -> NodewrightError:
    """Return an exception of the SDK as an error of the contract; *operation* is in AWS' spelling."""
    if isinstance(error, NodewrightError):
        return error
    names = {kind.__name__ for kind in type(error).__mro__}
    if "ClientError" in names:
        return _refusal(error, service, operation)
    return _failure(error, names, f"{service}:{operation}")


def _refusal(error: Exception, service: str, operation: str) -> NodewrightError:
    answer = _answer(error)
    code = code_of(error)
    status = answer.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    # The SDK may have called another service to get credentials.
    real = getattr(error, "operation_name", operation)
    call = f"{service}:{operation}" if real == operation else f"sts:{real}"
    text = _sentence(answer, code)
    if code in _THROTTLED or status == 429:
        return ThrottledError(f"AWS asks for fewer calls of {call}: {text}", retry_after=_retry_after(answer))
    if code in _EXPIRED or (code in _UNKNOWN_CREDENTIALS and _CLOCK.search(text)):
        return AccessDeniedError(
            f"the credentials for AWS have expired, or the clock is wrong ({call}): {text}; renew them", status=status
        )
    if code in _UNKNOWN_CREDENTIALS:
        return AccessDeniedError(
            f"AWS does not know these credentials ({call}): {text}; correct key, secret and token, and see whether "
            "they are of this region's partition",
            status=status,
        )
    if code in _DENIED:
        return AccessDeniedError(
            f"AWS does not allow {call}: {text}; allow {action_of(*call.split(':'))} in the policy of the role",
            status=status,
        )
    if code in _NOT_SUBSCRIBED:
        return AccessDeniedError(
            f"the account may not use {service} here ({call}): {text}; enable the service or the region for it",
            status=status,
        )
    if code in _LOST_PLACE:
        return TemporaryError(f"AWS can't continue the list of {call}: {text}; the next loop reads it from the start")
    if code in _BUSY:
        return TemporaryError(f"AWS is still busy with another operation ({call}): {text}")
    if code in _DOWN or status >= 500:
        return CloudUnavailableError(f"AWS could not answer {call}: {text}")
    if code == "ValidationError":
        for pattern, kind in _VALIDATION:
            if pattern.search(text):
                return kind(f"AWS refuses {call}: {text}")
    return PermanentError(f"AWS refuses {call}: {text}")


def _failure(error: Exception, names: set[str], call: str) -> NodewrightError:
    if names & _NO_CREDENTIALS:
        return AccessDeniedError(
            f"there are no usable credentials for AWS: {error}; give the pod a role (IRSA or Pod Identity), or set "
            "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile"
        )
    # botocore raises this if renewed credentials are as old as the previous ones.
    if isinstance(error, RuntimeError) and "expired" in str(error):
        return AccessDeniedError(f"the credentials for AWS have expired: {error}")
    if names & _MISCONFIGURED:
        return ConfigurationError(Problem(message=f"the SDK's configuration for AWS can't be used: {error}"))
    if names & _MISTAKES:
        return PermanentError(f"{call} can't be called like this, which is a bug in nodewright-aws: {error}")
    # An answer that is well-formed but not AWS' fails when a field is looked up.
    if "ResponseParserError" in names or isinstance(error, LookupError | AttributeError):
        return CloudUnavailableError(
            f"the answer to {call} can't be read: see what is at that endpoint, or on the way ({_first_line(error)})"
        )
    if "BotoCoreError" in names or isinstance(error, OSError):
        return CloudUnavailableError(f"AWS did not answer {call}: {error}")
    return PermanentError(f"{call} failed in an unknown way: {type(error).__name__}: {error}")


def _answer(error: Exception) -> dict[str, Any]:
    answer = getattr(error, "response", None)
    return answer if isinstance(answer, dict) else {}


def _sentence(answer: dict[str, Any], code: str) -> str:
    error = answer.get("Error", {})
    message = str(error.get("Message", ""))
    # EC2 adds a kilobyte that only another call can decode.
    message = message.partition(" Encoded authorization failure message:")[0].strip().rstrip(".")
    # If there is no code, botocore uses the status, or nothing.
    if str(error.get("Code") or "0").isdecimal():
        # An HTML page of a proxy is long and useless.
        message = "" if message.startswith("<") else message[:_LONGEST]
        status = answer.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        code = f"status {status} without a code of AWS: see what is at that endpoint, or on the way"
    return f"{message} ({code})" if message else code


def _retry_after(answer: dict[str, Any]) -> float | None:
    value = answer.get("ResponseMetadata", {}).get("HTTPHeaders", {}).get("retry-after", "")
    return float(value) if re.fullmatch(r"\d+(\.\d+)?", str(value)) else None


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [""])[0][:200]
