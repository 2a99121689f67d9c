"""Sessions of the SDK: which region, and with which credentials."""

import logging
import os
from functools import cache
from typing import Any

from nodewright.api import ConfigurationError, Problem

from nodewright_aws.config import AwsConfig, RoleSettings

#: Seconds, and attempts for each call. Together they stay within the deadline of a refresh (`loop.refreshTimeout`).
CONNECT_TIMEOUT = 3.0
READ_TIMEOUT = 10.0
ATTEMPTS = 3
_CONNECTIONS = 25


def open_session(config: AwsConfig) -> Any:
    """Return a session of boto3 for the profile that *config* names. Imports the SDK; makes no call."""
    # Costs a fifth of a second and 25 MB, so it is loaded only if this provider is configured.
    import boto3

    return boto3.session.Session(botocore_session=_botocore_session(), profile_name=config.profile or None)


def find_region(config: AwsConfig, session: Any) -> str:
    """Return the configured region, else the environment's or the profile's, else that of this machine.

    Asks the machine's metadata service only as a last resort. Raises `ConfigurationError` if no source has a region.
    """
    # The SDK for Go reads AWS_REGION, and charts set it; the SDK for Python reads only AWS_DEFAULT_REGION.
    region = config.region or os.environ.get("AWS_REGION") or session.region_name
    if not region:
        from botocore.utils import IMDSRegionProvider

        region = IMDSRegionProvider(session._session).provide()
    if not region:
        raise ConfigurationError(
            Problem(
                path="region",
                message="no region of AWS is known: set region of provider aws (region: eu-west-1), or AWS_REGION; "
                "the machine's metadata service does not know it",
            )
        )
    return str(region)


def client_settings(session: Any, user_agent: str) -> Any:
    """Return the timeouts, retries and connections of clients."""
    from botocore.config import Config

    # AWS_MAX_ATTEMPTS overrides our default, as in Cluster Autoscaler.
    attempts = session._session.get_config_variable("max_attempts") or ATTEMPTS
    return Config(
        user_agent_extra=user_agent,
        connect_timeout=CONNECT_TIMEOUT,
        read_timeout=READ_TIMEOUT,
        retries={"mode": "adaptive", "total_max_attempts": attempts},
        max_pool_connections=_CONNECTIONS,
        tcp_keepalive=True,
    )


def assume(role: RoleSettings, session: Any, *, region: str, sts_url: str | None, settings: Any) -> Any:
    """Return a session with the permissions of *role*, which *session* may assume. Calls AWS when first used.

    Its credentials are renewed as calls are made, some minutes before they expire.
    """
    import boto3
    from botocore.credentials import (
        AssumeRoleCredentialFetcher,
        CredentialProvider,
        CredentialResolver,
        DeferredRefreshableCredentials,
    )
    from botocore.exceptions import NoCredentialsError

    own = session.get_credentials()
    if own is None:
        raise NoCredentialsError
    arguments = {"RoleSessionName": role.session_name}
    if external_id := role.external_id.get_secret_value():
        arguments["ExternalId"] = external_id

    def client(service: str, **credentials: Any) -> Any:
        return session._session.create_client(
            service, region_name=region, endpoint_url=sts_url, config=settings, **credentials
        )

    fetcher = AssumeRoleCredentialFetcher(client, own, role.arn, extra_args=arguments)

    class AssumedRole(CredentialProvider):  # type: ignore[misc]
        METHOD = "nodewright-assume-role"

        def load(self) -> Any:
            return DeferredRefreshableCredentials(fetcher.fetch_credentials, self.METHOD)

    assumed = _botocore_session()
    assumed.register_component("credential_provider", CredentialResolver([AssumedRole()]))
    return boto3.session.Session(botocore_session=assumed, region_name=region)


def _botocore_session() -> Any:
    import botocore.session

    logging.getLogger("botocore.credentials").addFilter(_without_stack)
    session = botocore.session.get_session()
    session.register_component("data_loader", _service_models(session.get_config_variable("data_path")))
    return session


def _without_stack(record: logging.LogRecord) -> bool:
    """Log failed renewals of credentials without their stack; drop those that are also raised.

    The whole stack would be logged in every loop.
    """
    record.exc_info = None
    return "mandatory" not in (record.args or ())


@cache
def _service_models(path: str | None) -> Any:
    """Return what loads the SDK's service models, once for all providers of a process."""
    from nodewright_aws.calls.models import loader

    return loader(path)
