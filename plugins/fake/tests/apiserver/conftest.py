from collections.abc import Iterator

import pytest
import yaml
from kubernetes import client, config
from nodewright.testing.clock import SteppedClock
from nodewright_fake.apiserver.server import ApiServer
from nodewright_fake.apiserver.store import Store

from .raw import Raw


@pytest.fixture
def clock() -> SteppedClock:
    return SteppedClock()


@pytest.fixture
def store(clock: SteppedClock) -> Store:
    return Store(clock)


@pytest.fixture
def server(store: Store) -> Iterator[ApiServer]:
    with ApiServer(store) as server:
        yield server


@pytest.fixture
def raw(server: ApiServer) -> Iterator[Raw]:
    raw = Raw(server.url)
    yield raw
    raw.close()


@pytest.fixture
def api(server: ApiServer) -> Iterator[client.ApiClient]:
    """The official client, configured by the server's kubeconfig."""
    api = config.new_client_from_config_dict(yaml.safe_load(server.kubeconfig()))
    yield api
    api.close()
    api.rest_client.pool_manager.clear()


@pytest.fixture
def core(api: client.ApiClient) -> client.CoreV1Api:
    return client.CoreV1Api(api)
