"""Worlds that have come to rest, for commands that look at them once."""

from contextlib import contextmanager
from time import monotonic, sleep

from nodewright_fake.scenario import parse_scenario
from nodewright_fake.world import World


@contextmanager
def at_rest(scenario, clock, settled):
    """A world that is left alone until its pods are *settled*."""
    with World(parse_scenario(scenario), clock) as world:
        until = monotonic() + 20
        while not settled(world.store.list("pods", "default")):
            assert monotonic() < until, "the pods never came to rest"
            sleep(0.01)
        yield world


def write_config(folder, world, *settings):
    """Write a configuration for the cloud of *world* and return its path."""
    config = folder / "nodewright.yaml"
    lines = ["apiVersion: nodewright.dev/v1", "kind: Autoscaler"]
    lines += [f"providers: [fake: {{url: '{world.provider_config['url']}'}}]", *settings]
    config.write_text("\n".join(lines) + "\n")
    return config
