"""What becomes of a plugin that does to its process what none of our own would survive."""

import json
import locale
import logging
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from nodewright.api import ConfigurationError, PluginError
from nodewright.plugins import Faults
from nodewright.plugins.isolation import ProcessError
from nodewright.testing import SteppedClock, an_expander_context, an_option

MISFIT = """
    import ctypes, locale, logging, os, re, signal, socket, subprocess, sys, time
    from nodewright.api import ConfigurationError, Expander, PluginConfig

    class Config(PluginConfig):
        code: str = ""
        at_start: str = ""

    class Misfit(Expander):
        api_version = 1
        Config = Config

        def __init__(self, config):
            super().__init__(config)
            exec(config.at_start)

        def best(self, options, context):
            exec(self.config.code)
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


@pytest.fixture
def misfit(install, isolate):
    install("acme", {"expanders/misfit": "Misfit"}, MISFIT)

    def make(code="", *, at_start="", **limits):
        return isolate("expanders", "misfit", {"code": code, "at_start": at_start}, **limits)

    return make


def ask(expander):
    options = [an_option()]
    assert list(expander.best(options, an_expander_context())) == options


def complaint(expander):
    with pytest.raises(ProcessError) as caught:
        ask(expander)
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
    assert complaint(misfit(code)) == f"the process of misfit {fate}"


def test_a_call_that_holds_the_interpreter_for_ever_is_ended_at_its_deadline(misfit) -> None:
    hanging = misfit(FOR_EVER, deadline=0.3)
    began = time.monotonic()
    assert complaint(hanging) == "the process of misfit gave no answer (best) within 0.3 s: it was ended"
    assert time.monotonic() - began < 3


def test_a_process_takes_no_more_memory_than_it_may(misfit) -> None:
    greedy = misfit("bytearray(1 << 30)", memory=512 << 20)
    assert complaint(greedy) == "the process of misfit reached its limit of memory of 512Mi: it was ended"


def test_what_only_ends_the_call_leaves_the_process_alone(misfit) -> None:
    for code, kind in (("raise KeyError('zone')", KeyError), ("1 / 0", ZeroDivisionError)):
        expander = misfit(code)
        for _ in range(2):
            with pytest.raises(kind):
                ask(expander)


def test_exceptions_read_as_if_they_were_raised_here(misfit) -> None:
    faults, told = Faults(SteppedClock()), []
    faults.listen(lambda fault: told.append(fault.error))
    for code in (
        "raise KeyError('zone')",
        "class Odd(Exception): ...\nraise Odd('what')",
        "sys.exit(4)",
        "raise ConfigurationError('no')",
    ):
        faults.call("misfit", "best", ask, misfit(code), default=None)
    assert told == ["KeyError: 'zone'", "Odd: what", "SystemExit: 4", "no"]


def test_errors_of_the_contract_keep_their_class_and_fields(misfit) -> None:
    with pytest.raises(ConfigurationError) as caught:
        ask(misfit("raise ConfigurationError('no')"))
    assert [problem.message for problem in caught.value.problems] == ["no"]


def test_what_is_no_value_of_the_contract_does_not_leave_the_process(misfit) -> None:
    with pytest.raises(TypeError, match="returned a Popen, which can't leave the plugin's process"):
        misfit("options[:] = []; options.append(subprocess.Popen(['true']))").best([an_option()], an_expander_context())


def test_a_process_is_started_again_after_a_pause(misfit, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("nodewright.plugins.isolation.process._FIRST_PAUSE", 0.2)
    once = tmp_path / "once"
    expander = misfit(f"if not os.path.exists({str(once)!r}): open({str(once)!r}, 'w'); os._exit(1)")
    assert complaint(expander) == "the process of misfit ended with exit code 1"
    assert complaint(expander) == "the process of misfit ended with exit code 1; it is started again soon"
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
    expander = misfit("print('hello'); logging.getLogger('acme').warning('careful')")
    ask(expander)
    expander.close()
    assert "plugin misfit: hello" in caplog.messages
    assert "plugin misfit: acme: careful" in caplog.messages


def test_what_it_changes_of_its_process_stays_there(misfit) -> None:
    def ours():
        return os.environ.get("TZ"), time.tzname, Path.cwd(), signal.getsignal(signal.SIGTERM), locale.setlocale(0)

    before = ours()
    ask(misfit(CHANGE_ALL))
    assert ours() == before


def test_its_own_children_end_with_it(misfit, tmp_path) -> None:
    pids = tmp_path / "pids"
    expander = misfit(START_CHILDREN.format(pids=str(pids)))
    ask(expander)
    children = [int(line) for line in pids.read_text().split()]
    assert all(map(is_running, children))
    expander.close()
    assert not any(map(is_running, children))


def test_nothing_is_left_of_a_process(misfit) -> None:
    misfit().close()
    before = descriptors()
    for code in ("", "os._exit(1)", "ctypes.string_at(0)"):
        expander = misfit(code)
        if code:
            complaint(expander)
        expander.close()
    assert descriptors() == before
    assert not zombies()


def test_it_ends_with_nodewright_even_if_that_is_killed(misfit, tmp_path) -> None:
    pids = tmp_path / "pids"
    misfit()  # installs it
    settings = {"code": START_CHILDREN.format(pids=str(pids)) + FOR_EVER}
    nodewright = subprocess.Popen([sys.executable, "-c", ASK, json.dumps(sys.path), json.dumps(settings)])
    children = eventually(lambda: len(found := pids.read_text().split() if pids.exists() else ()) == 2 and found)
    nodewright.kill()
    nodewright.wait()
    assert eventually(lambda: not any(map(is_running, children)))


ASK = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from nodewright.plugins import Registry
from nodewright.testing import an_expander_context, an_option
Registry().create_apart("expanders", "misfit", json.loads(sys.argv[2])).best([an_option()], an_expander_context())
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
