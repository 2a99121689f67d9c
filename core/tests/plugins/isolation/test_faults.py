"""What becomes of a plugin that does to its process what none of our own would survive."""

import gc
import json
import locale
import logging
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from nodewright.api import ConfigurationError, Option, PluginError
from nodewright.plugins import Faults, Registry
from nodewright.plugins.isolation import ProcessError
from nodewright.testing import SteppedClock, a_group, a_node, a_simulation, an_expander_context, an_option
from nodewright.testing.distributions import Distributions

MISFIT = """
    import ctypes, locale, logging, os, re, signal, socket, subprocess, sys, time
    from nodewright.api import ConfigurationError, Expander, Option, PluginConfig

    class Config(PluginConfig):
        at_start: str = ""

    class Misfit(Expander):
        api_version = 1
        Config = Config

        def __init__(self, config):
            super().__init__(config)
            exec(config.at_start)

        def best(self, options, context):
            exec(options[0].group.id)
            return options
"""
WRITE_GARBAGE = """
for fd in os.listdir('/proc/self/fd'):
    if os.path.exists('/proc/self/fd/' + fd) and os.readlink('/proc/self/fd/' + fd).startswith('socket'):
        os.write(int(fd), b'x' * 100)
time.sleep(60)
"""
START_CHILDREN = """
with open({pids!r}, 'w') as file:
    for new in (False, True):
        print(subprocess.Popen(['sleep', '300'], start_new_session=new).pid, file=file)
"""
CHANGE_ALL = """
os.environ['TZ'] = 'Asia/Tokyo'
time.tzset()
os.chdir('/')
signal.signal(signal.SIGTERM, signal.SIG_IGN)
locale.setlocale(locale.LC_ALL, 'C')
"""
FOR_EVER = "re.match(r'(a+)+$', 'a' * 60 + 'b')"


@pytest.fixture(scope="module", autouse=True)
def installed(tmp_path_factory):
    """The misfit, which does what the name of the first group tells it."""
    with Distributions(tmp_path_factory.mktemp("acme")) as distributions:
        distributions.install("acme", {"expanders/misfit": "Misfit"}, MISFIT)
        yield


@pytest.fixture
def misfit(isolate):
    return lambda *, at_start="", **limits: isolate("expanders", "misfit", {"at_start": at_start}, **limits)


@pytest.fixture(scope="module")
def tough(installed):
    """A process for all that does not end it."""
    expander = Registry().create_apart("expanders", "misfit", {})
    yield expander
    expander.close()


def ask(expander, code=""):
    options = [an_option(a_group(code))]
    assert list(expander.best(options, an_expander_context())) == options


def complaint(expander, code):
    with pytest.raises(ProcessError) as caught:
        ask(expander, code)
    return str(caught.value)


@pytest.mark.parametrize(
    ("code", "fate"),
    [
        ("os._exit(3)", "ended with exit code 3"),
        ("ctypes.string_at(0)", "ended with signal 11 (SIGSEGV)"),
        ("os.kill(os.getpid(), 9)", "ended with signal 9 (SIGKILL), perhaps for want of memory"),
        ("sys.stderr.write('no more\\n'); os._exit(1)", "ended with exit code 1: no more"),
        ("os.closerange(3, 100)", "ended with exit code 0"),
        (WRITE_GARBAGE, "sent what can't be read: it was ended (it sent something that is no answer)"),
    ],
    ids=["exit", "segfault", "killed", "last-words", "closed", "garbage"],
)
def test_the_end_of_a_process_is_told(misfit, code, fate) -> None:
    assert complaint(misfit(), code) == f"the process of misfit {fate}"


def test_a_call_that_holds_the_interpreter_for_ever_is_ended_at_its_deadline(misfit) -> None:
    hanging = misfit(deadline=0.3)
    began = time.monotonic()
    assert complaint(hanging, FOR_EVER) == "the process of misfit gave no answer (best) within 0.3 s: it was ended"
    assert time.monotonic() - began < 5


def test_a_process_takes_no_more_memory_than_it_may(misfit) -> None:
    told = complaint(misfit(memory=512 << 20), "bytearray(1 << 30)")
    assert told == "the process of misfit reached its limit of memory of 512Mi: it was ended"


def test_exceptions_read_as_if_they_were_raised_here(tough) -> None:
    faults, told = Faults(SteppedClock()), []
    faults.listen(lambda fault: told.append(fault.error))
    for code in (
        "raise KeyError('zone')",
        "class Odd(Exception): ...\nraise Odd('what')",
        "sys.exit(4)",
        "raise ConfigurationError('no')",
    ):
        faults.call("misfit", "best", ask, tough, code, default=None)
    assert told == ["KeyError: 'zone'", "Odd: what", "SystemExit: 4", "no"]


def test_errors_of_the_contract_keep_their_class_and_fields(tough) -> None:
    with pytest.raises(ConfigurationError) as caught:
        ask(tough, "raise ConfigurationError('no')")
    assert [problem.message for problem in caught.value.problems] == ["no"]


def test_what_is_no_value_of_the_contract_does_not_leave_the_process(tough) -> None:
    with pytest.raises(TypeError, match="returned a Popen, which can't leave the plugin's process"):
        ask(tough, "options[0] = subprocess.Popen(['true'])")


def test_what_is_more_than_a_value_of_the_contract_comes_back_as_that_value(tough) -> None:
    options = [an_option(a_group("class Mine(Option): ...\noptions[0] = Mine(**vars(options[0]))"))]
    (answer,) = tough.best(options, an_expander_context())
    assert type(answer) is Option
    assert answer == options[0]


def test_what_was_thrown_and_told_there_counts_here(tough) -> None:
    code = "context.random.random(); context.notice('Odd', 'seen')"
    context, dice = an_expander_context(), an_expander_context().random
    tough.best([an_option(a_group(code))], context)
    dice.random()
    assert context.random.random() == dice.random()
    assert [notice.message for notice in context.notices] == ["seen"]


def test_forks_that_a_dead_process_left_open_are_undone(misfit) -> None:
    simulation = a_simulation(nodes=[a_node("one", cpu="4")])
    code = "with context.simulation.fork() as trial: trial.add_nodes(options[0].group, 2); os._exit(1)"
    before = simulation.size
    with pytest.raises(ProcessError):
        misfit().best([an_option(a_group(code))], replace(an_expander_context(), simulation=simulation))
    assert simulation.size == before


def test_a_process_is_started_again_after_a_pause(misfit, monkeypatch) -> None:
    monkeypatch.setattr("nodewright.plugins.isolation.process._FIRST_PAUSE", 0.2)
    expander = misfit()
    assert complaint(expander, "os._exit(1)") == "the process of misfit ended with exit code 1"
    assert complaint(expander, "") == "the process of misfit ended with exit code 1; it is started again soon"
    time.sleep(0.3)
    ask(expander)


def test_a_plugin_that_ends_its_process_at_once_is_refused(misfit) -> None:
    with pytest.raises(PluginError) as caught:
        misfit(at_start="os._exit(2)")
    assert str(caught.value) == (
        "misfit can't be started in a process of its own: the process of misfit ended with exit code 2"
    )


def test_what_it_prints_and_logs_is_logged_under_its_name(misfit, caplog) -> None:
    caplog.set_level(logging.INFO)
    expander = misfit()
    ask(expander, "print('hello'); logging.getLogger('acme').warning('careful')")
    expander.close()
    assert "plugin misfit: hello" in caplog.messages
    assert "plugin misfit: acme: careful" in caplog.messages


def test_what_it_changes_of_its_process_stays_there(misfit) -> None:
    def ours():
        handler, place = signal.getsignal(signal.SIGTERM), locale.setlocale(locale.LC_ALL)
        return os.environ.get("TZ"), time.tzname, Path.cwd(), handler, place

    before = ours()
    ask(misfit(), CHANGE_ALL)
    assert ours() == before


def test_its_own_children_end_with_it(misfit, tmp_path) -> None:
    pids = tmp_path / "pids"
    expander = misfit()
    ask(expander, START_CHILDREN.format(pids=str(pids)))
    children = [int(line) for line in pids.read_text().split()]
    assert all(map(is_running, children))
    expander.close()
    assert not any(map(is_running, children))


def test_nothing_is_left_of_a_process(misfit) -> None:
    misfit().close()
    before = descriptors()
    for code in ("", "ctypes.string_at(0)"):
        expander = misfit()
        if code:
            complaint(expander, code)
        expander.close()
    assert descriptors() == before
    assert not zombies()


def test_a_process_that_nobody_needs_any_more_ends(misfit) -> None:
    expander = Registry().create_apart("expanders", "misfit", {})
    before = descriptors()
    del expander
    gc.collect()
    assert descriptors() < before


def test_it_ends_with_nodewright_even_if_that_is_killed(tmp_path) -> None:
    pids = tmp_path / "pids"
    code = START_CHILDREN.format(pids=str(pids)) + FOR_EVER
    nodewright = subprocess.Popen([sys.executable, "-c", ASK, json.dumps(sys.path), code])
    children = eventually(lambda: len(found := pids.read_text().split() if pids.exists() else ()) == 2 and found)
    nodewright.kill()
    nodewright.wait()
    assert eventually(lambda: not any(map(is_running, children)))


ASK = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from nodewright.plugins import Registry
from nodewright.testing import a_group, an_expander_context, an_option
Registry().create_apart("expanders", "misfit", {}).best([an_option(a_group(sys.argv[2]))], an_expander_context())
"""


def eventually(look):
    until = time.monotonic() + 10
    while not (found := look()) and time.monotonic() < until:
        time.sleep(0.05)
    return found


def is_running(pid):
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and state_and_parent(stat)[0] != "Z"


def descriptors():
    return len(list(Path("/proc/self/fd").iterdir()))


def zombies():
    stats = (state_and_parent(each) for each in Path("/proc").glob("[0-9]*/stat"))
    return [state for state, parent in stats if (state, parent) == ("Z", str(os.getpid()))]


def state_and_parent(stat):
    try:
        return tuple(stat.read_text().rpartition(")")[2].split()[:2])
    except OSError:
        return "", ""
