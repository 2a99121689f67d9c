"""A play in real time: how it begins, and what is left of it."""

import threading
import time
from datetime import timedelta
from threading import Event

import pytest
from nodewright.testing import EPOCH
from nodewright_fake.demo.player import Player
from nodewright_fake.demo.stage import Stage, StoryClock
from nodewright_fake.scenario import parse_scenario

SCENARIO = """
zones: [eu-a]
instanceTypes:
  small: {cpu: 2, memory: 4Gi, price: 0.6}
groups:
  - {name: base, zone: eu-a, instanceType: small, max: 4, bootTime: 5s, readyTime: 1s}
workloads:
  deployments:
    - {name: web, replicas: 1, cpu: 1500m}
story:
  - {at: 0s, note: It begins.}
  - {at: 1h, note: It ends.}
"""


def wait_until(holds, player, *, within=20.0):
    until = time.monotonic() + within
    while not holds():
        assert time.monotonic() < until
        player.check()
        time.sleep(0.01)


def test_the_clock_of_a_story_stands_still_until_it_begins() -> None:
    clock = StoryClock(speed=1000, start=EPOCH)
    assert clock.now() == EPOCH
    assert clock.wait(Event(), 1.0) is False
    assert clock.now() == EPOCH
    clock.begin()
    assert clock.wait(Event(), 10.0) is False
    assert timedelta(seconds=10) <= clock.now() - EPOCH < timedelta(minutes=10)


def test_the_clock_of_a_story_tells_that_an_event_came() -> None:
    clock, event = StoryClock(speed=1, start=EPOCH), Event()
    event.set()
    assert clock.wait(event, 3600.0) is True


def test_the_story_begins_when_the_autoscaler_is_ready() -> None:
    clock = StoryClock(speed=50, start=EPOCH)
    with Stage(parse_scenario(SCENARIO), clock) as stage:
        assert stage.scene().note == "It begins."
        assert stage.scene().elapsed == timedelta()
        with Player(stage, on_ready=clock.begin) as player:
            wait_until(lambda: stage.scene().nodes_there == 1, player)
            assert stage.scene().elapsed > timedelta(seconds=6)


def test_nothing_is_left_of_a_play_that_was_ended_early() -> None:
    before = set(threading.enumerate())
    # The next loop and the next step of the story are an hour of real time away: none is waited for.
    clock = StoryClock(speed=1, start=EPOCH)
    settings = "autoscaler: {loop: {scanInterval: 1h}}"
    began = time.monotonic()
    with Stage(parse_scenario(SCENARIO + settings), clock) as stage:
        kubeconfig = stage.world.kubeconfig
        with Player(stage, on_ready=clock.begin) as player:
            wait_until(lambda: any("grow base" in line.text for line in stage.log.after(0)), player)
    assert time.monotonic() - began < 20
    assert set(threading.enumerate()) - before == set()
    assert not kubeconfig.exists()


def test_a_world_that_breaks_down_ends_the_play() -> None:
    with Stage(parse_scenario(SCENARIO), StoryClock(speed=1)) as stage, Player(stage) as player:
        player.check()
        stage.world.failure = RuntimeError("out of order")
        with pytest.raises(Exception, match=r"the demo's world broke down: RuntimeError\('out of order'\)"):
            player.check()
