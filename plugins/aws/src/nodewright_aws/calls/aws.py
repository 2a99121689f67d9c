"""AWS as the rest of this plugin sees it: one way to make a call, one to read all pages."""

from collections.abc import Callable, Iterator
from threading import Lock
from time import perf_counter
from typing import Any, Protocol

from nodewright_aws.calls.cloud_config import read_cloud_config
from nodewright_aws.calls.errors import code_of, retries_of, translate
from nodewright_aws.calls.metrics import observe
from nodewright_aws.calls.session import assume, client_settings, find_region, open_session
from nodewright_aws.config import AwsConfig

#: Few regions serve price lists, and each serves those of all regions: the nearest, by the first word of ours.
_PRICE_LISTS = {"ap": "ap-south-1", "cn": "cn-northwest-1", "eu": "eu-central-1"}


class Calls(Protocol):
    """Makes calls. Safe to use from any thread; raises `nodewright.api.NodewrightError` and nothing else.

    A *service* is named as in boto3 (``autoscaling``, ``ec2``, ``eks``, ``pricing``, ``sqs``), an *operation* as its
    method there (``describe_auto_scaling_groups``); arguments and answers are boto3's.
    """

    @property
    def region(self) -> str:
        """The region that calls go to."""
        ...

    def call(self, service: str, operation: str, **arguments: Any) -> dict[str, Any]:
        """Make one call and return its answer."""
        ...

    def pages(self, service: str, operation: str, **arguments: Any) -> Iterator[dict[str, Any]]:
        """Make one call for each page of the answer, when that page is needed."""
        ...


class Aws:
    """The account and region of a configuration. The SDK is loaded, and clients are made, when first needed.

    Raises `ConfigurationError` if the file of ``cloudConfig`` can't be used.
    """

    def __init__(self, config: AwsConfig, *, user_agent: str) -> None:
        self._config = config
        self._endpoints: dict[str, str] = dict(config.endpoints.items())
        self._overrides = read_cloud_config(config.cloud_config) if config.cloud_config else ()
        self._user_agent = user_agent
        self._lock = Lock()
        self._session: Any = None
        self._authorized: Any = None
        self._region = ""
        self._clients: dict[str, Any] = {}

    @property
    def region(self) -> str:
        """The region that calls go to. Determined once; makes no call to AWS."""
        with self._lock:
            return str(self._ask("", "", self._locate))

    def call(self, service: str, operation: str, **arguments: Any) -> dict[str, Any]:
        """Make one call and return its answer."""
        client = self._client(service, operation)
        method = getattr(client, operation)
        answer: dict[str, Any] = self._measured(client, service, operation, lambda: method(**arguments))
        return answer

    def pages(self, service: str, operation: str, **arguments: Any) -> Iterator[dict[str, Any]]:
        """Make one call for each page of the answer, when that page is needed."""
        client = self._client(service, operation)
        paginator = self._ask(service, operation, lambda: client.get_paginator(operation))
        pages = iter(paginator.paginate(**arguments))
        while (page := self._measured(client, service, operation, lambda: next(pages, None))) is not None:
            yield page

    def close(self) -> None:
        """Close all connections."""
        with self._lock:
            for client in self._clients.values():
                client.close()
            self._clients.clear()

    def _measured(self, client: Any, service: str, operation: str, ask: Callable[[], Any]) -> Any:
        """Return what *ask* returns and measure it as a call, unless it returns None."""
        endpoint = client.meta.method_to_api_mapping[operation]
        began = perf_counter()
        try:
            answer = ask()
        except Exception as error:
            observe(endpoint, code_of(error), seconds=perf_counter() - began, retries=retries_of(error))
            raise translate(error, service, endpoint) from error
        if answer is not None:
            retries = answer.get("ResponseMetadata", {}).get("RetryAttempts", 0)
            observe(endpoint, "success", seconds=perf_counter() - began, retries=retries)
        return answer

    def _ask(self, service: str, operation: str, ask: Callable[[], Any]) -> Any:
        try:
            return ask()
        except Exception as error:
            raise translate(error, service, operation) from error

    def _client(self, service: str, operation: str) -> Any:
        with self._lock:
            if service not in self._clients:
                self._clients[service] = self._ask(service, operation, lambda: self._make(service))
            return self._clients[service]

    def _locate(self) -> str:
        self._session = self._session or open_session(self._config)
        self._region = self._region or find_region(self._config, self._session)
        return self._region

    def _make(self, service: str) -> Any:
        region = self._locate()
        settings = client_settings(self._session, self._user_agent)
        role = self._config.assume_role
        if self._authorized is None:
            url, _ = self._endpoint("sts", region)
            self._authorized = (
                assume(role, self._session, region=region, sts_url=url, settings=settings) if role else self._session
            )
        url, signed_for = self._endpoint(service, region)
        return self._authorized.client(service, region_name=signed_for, endpoint_url=url, config=settings)

    def _endpoint(self, service: str, region: str) -> tuple[str | None, str]:
        """Return the URL of a service, None for the usual one, and the region that its requests are signed for."""
        if service in self._endpoints:
            return self._endpoints[service], region
        for override in self._overrides:
            if (override.service, override.region) == (service, region):
                return override.url, override.signing_region
        return None, _PRICE_LISTS.get(region.partition("-")[0], "us-east-1") if service == "pricing" else region
