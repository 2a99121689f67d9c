"""A gallery of bad plugins: each with the place in which it has to be named, and how."""

from dataclasses import dataclass
from textwrap import dedent, indent

#: Before the code of each.
_IMPORTS = """
import ctypes, gc, locale, logging, os, re, signal, socket, subprocess, sys, threading, time
from nodewright.api import *
from nodewright.testing import a_template
"""

_EXPANDER = """
class Bad(Expander):
    api_version = 1

    def best(self, options, context):
{body}
        return options
"""

_PROCESSOR = """
class Bad(PendingPodsProcessor):
    api_version = 1

    def process(self, pods, context):
{body}
        return pods
"""

_HOOK = """
class Bad(Plugin):
    api_version = 1

    @hookimpl
    def adjust_groups(self, groups):
{body}
"""

#: A cloud with a group that one of the pods waits for. What stands in the body takes the place of what is there.
_PROVIDER = """
class Group(NodeGroup):
    id, min_size, max_size, target_size = "bad", 0, 5, 0

    def instances(self): return ()
    def template(self): return a_template(cpu="4", labels={{"pool": "bad"}})
    def increase(self, count): self.target_size += count
    def delete_nodes(self, nodes): pass
    def decrease_target(self, count): pass
{group}

class Bad(Provider):
    api_version = 1
    capabilities = frozenset({{Capability.SCALE_FROM_ZERO, Capability.PRICES}})

    def __init__(self, config, context):
        super().__init__(config, context)
        self.members = [Group()]

    def refresh(self): pass
    def groups(self): return self.members
    def group_of(self, node): return None
{provider}
"""

_METRICS = """
from prometheus_client.core import GaugeMetricFamily

class Metrics:
    def collect(self):
{body}

class Bad(Plugin):
    api_version = 1
    def collectors(self): return [Metrics()]
"""

#: An error whose text needs what it has not got.
_UNTOLD = """
class Untold(Exception):
    def __str__(self): return self.response["message"]
raise Untold
"""


@dataclass(frozen=True, kw_only=True)
class BadPlugin:
    """A plugin that does what it must not do."""

    kind: str
    code: str
    #: The method or hook in which it has to be named.
    where: str
    #: A regular expression for how it is told.
    said: str
    #: Whether its failure keeps nodes, as the contract says.
    keeps_nodes: bool = False
    #: Whether only a process of its own holds it.
    isolated: bool = False


def _plugin(kind: str, code: str, where: str, said: str, **others: bool) -> BadPlugin:
    return BadPlugin(kind=kind, code=_IMPORTS + dedent(code), where=where, said=said, **others)


def _expander(body: str, said: str, **others: bool) -> BadPlugin:
    return _plugin("expanders", _EXPANDER.format(body=indent(dedent(body), " " * 8)), "best", said, **others)


def _import(code: str, said: str) -> BadPlugin:
    return _plugin("expanders", f"{code}\n{_EXPANDER.format(body='')}", "import", said)


def _processor(body: str, said: str) -> BadPlugin:
    return _plugin("processors", _PROCESSOR.format(body=indent(dedent(body), " " * 8)), "process", said)


def _hook(body: str, said: str) -> BadPlugin:
    return _plugin("hooks", _HOOK.format(body=indent(dedent(body), " " * 8)), "adjust_groups", said)


def _provider(where: str, said: str, *, group: str = "", provider: str = "", **others: bool) -> BadPlugin:
    code = _PROVIDER.format(group=indent(dedent(group), " " * 4), provider=indent(dedent(provider), " " * 4))
    return _plugin("providers", code, where, said, **others)


def _metrics(body: str, said: str) -> BadPlugin:
    return _plugin("hooks", _METRICS.format(body=indent(dedent(body), " " * 8)), "collect", said)


def _method(head: str, body: str) -> str:
    return f"{head}\n{indent(dedent(body), '    ')}"


def _property(name: str) -> BadPlugin:
    body = f"""
    @property
    def {name}(self): raise RuntimeError("boom")
    def best(self, options, context): return options
    """
    code = f"class Bad(Expander):\n    api_version = 1\n{indent(dedent(body), '    ')}"
    return _plugin("expanders", code, name, "RuntimeError: boom")


GALLERY: dict[str, BadPlugin] = {
    # It raises.
    "an expander that raises": _expander("raise ZeroDivisionError('boom')", "ZeroDivisionError: boom"),
    "an expander whose plan raises": _plugin(
        "expanders",
        """
        class Bad(Expander):
            api_version = 1
            def plan(self, options, context): raise LookupError("no map")
            def best(self, options, context): return options
        """,
        "plan",
        "LookupError: no map",
    ),
    "an estimator that raises": _plugin(
        "estimators",
        """
        class Bad(Estimator):
            api_version = 1
            def estimate(self, group, pods, simulation, limit): raise ZeroDivisionError("boom")
        """,
        "estimate",
        "ZeroDivisionError: boom",
    ),
    "a processor that raises": _processor("raise RuntimeError('boom')", "RuntimeError: boom"),
    "a step for removals that raises": _plugin(
        "candidates",
        """
        class Bad(ScaleDownCandidatesProcessor):
            api_version = 1
            def process(self, nodes, context): raise RuntimeError("boom")
        """,
        "process",
        "RuntimeError: boom",
        keeps_nodes=True,
    ),
    "a drain rule that raises": _plugin(
        "drain_rules",
        """
        class Bad(DrainRule):
            api_version = 1
            def judge(self, pod, context): raise RuntimeError("boom")
        """,
        "judge",
        "RuntimeError: boom",
        keeps_nodes=True,
    ),
    "a veto that raises": _plugin(
        "hooks",
        """
        class Bad(Plugin):
            api_version = 1
            @hookimpl
            def veto_scale_down(self, node): raise RuntimeError("boom")
        """,
        "veto_scale_down",
        "RuntimeError: boom",
        keeps_nodes=True,
    ),
    "a veto that can't be made": _plugin(
        "hooks",
        """
        class Bad(Plugin):
            api_version = 1
            def __init__(self, config): raise LookupError("no licence")
            @hookimpl
            def veto_scale_down(self, node): return None
        """,
        "load",
        "LookupError: no licence",
        keeps_nodes=True,
    ),
    "an observer that raises": _plugin(
        "hooks",
        """
        class Bad(Plugin):
            api_version = 1
            @hookimpl
            def on_decision(self, decision): raise RuntimeError("boom")
        """,
        "on_decision",
        "RuntimeError: boom",
    ),
    "an error without words": _expander("raise KeyError", "KeyError"),
    "a provider whose refresh raises": _provider(
        "refresh", "RuntimeError: boom", provider="def refresh(self): raise RuntimeError('boom')"
    ),
    "a provider whose groups raise": _provider(
        "refresh", "RuntimeError: boom", provider="def groups(self): raise RuntimeError('boom')"
    ),
    "a group whose size raises": _provider(
        "group",
        "RuntimeError: boom",
        group="target_size = property(lambda self: (_ for _ in ()).throw(RuntimeError('boom')))",
    ),
    "a provider that knows no nodes": _provider(
        "group_of", "RuntimeError: boom", provider="def group_of(self, node): raise RuntimeError('boom')"
    ),
    "a group that can't grow": _provider(
        "increase", "RuntimeError: boom", group="def increase(self, count): raise RuntimeError('boom')"
    ),
    "prices that raise": _plugin(
        "prices",
        """
        class Bad(Prices):
            api_version = 1
            def node_price(self, template, start, end): raise RuntimeError("boom")
            def pod_price(self, pod, start, end): raise RuntimeError("boom")
        """,
        "node_price",
        "RuntimeError: boom",
    ),
    "a constructor that raises": _plugin(
        "expanders",
        """
        class Bad(Expander):
            api_version = 1
            def __init__(self, config): raise LookupError("no licence")
            def best(self, options, context): return options
        """,
        "load",
        "can't be started: LookupError: no licence",
    ),
    "a module that raises": _plugin("expanders", "raise RuntimeError('half an upgrade')", "load", "half an upgrade"),
    "metrics that raise": _plugin(
        "hooks",
        """
        class Bad(Plugin):
            api_version = 1
            def collectors(self): raise RuntimeError("boom")
        """,
        "collectors",
        "RuntimeError: boom",
    ),
    "a property that raises": _property("asks_outside"),
    "a method that is a property": _property("collectors"),
    "a release that is a property": _property("close"),
    # It ends the process.
    "a declaration that exits": _plugin(
        "expanders",
        """
        class Bad(Expander):
            api_version = 1
            pod_annotations = property(lambda self: sys.exit(3))
            def best(self, options, context): return options
        """,
        "load",
        "tried to end the process",
    ),
    "an expander that exits": _expander("sys.exit(3)", r"tried to end the process \(SystemExit: 3\)"),
    "a refresh that exits": _provider("refresh", "tried to end the process", provider="def refresh(self): sys.exit()"),
    "an order that exits": _provider(
        "increase", "tried to end the process", group="def increase(self, count): sys.exit()"
    ),
    "a constructor that exits": _plugin(
        "expanders",
        """
        class Bad(Expander):
            api_version = 1
            def __init__(self, config): sys.exit(2)
            def best(self, options, context): return options
        """,
        "load",
        "tried to end the process",
    ),
    "settings that exit": _plugin(
        "expanders",
        """
        from pydantic import model_validator

        class Bad(Expander):
            api_version = 1
            class Config(PluginConfig):
                @model_validator(mode="after")
                def checked(self): sys.exit(2)
            def best(self, options, context): return options
        """,
        "load",
        "tried to end the process",
    ),
    "a module that exits": _plugin("expanders", "sys.exit('bye')", "load", "tried to end the process"),
    "a cancelled task": _expander("import asyncio; raise asyncio.CancelledError", "tried to end the process"),
    "a signal to itself": _expander("os.kill(os.getpid(), signal.SIGTERM)", r"tried to end this process \(signal 15\)"),
    "another program in its place": _expander("os.execv('/bin/true', ['true'])", "replace the process"),
    # It recurses.
    "a recursion without end": _processor("self.process(pods, context)", "RecursionError"),
    "a higher recursion limit": _processor("sys.setrecursionlimit(10**6)", "changed the recursion limit"),
    # It lies about types.
    "a size in words": _provider("group", "target_size", group="target_size = 'three'"),
    "a size that is true": _provider("group", "target_size", group="target_size = True"),
    "bounds that are swapped": _provider("group", "min_size is 5, above max_size", group="min_size, max_size = 5, 3"),
    "amounts in words": _provider(
        "group",
        "allocatable",
        group="""
        def template(self): return NodeTemplate(capacity={"cpu": 4000}, allocatable={"cpu": "4"})
        """,
    ),
    "a dict for a template": _provider("group", "template", group="def template(self): return {'cpu': 4}"),
    "machines in a state of their own": _provider(
        "group", "state", group="def instances(self): return [Instance(id='bad://1', state='Ready')]"
    ),
    "no groups at all": _provider("refresh", "groups", provider="def groups(self): return None"),
    "a group by number": _provider("group_of", "returned an int", provider="def group_of(self, node): return 7"),
    "an option of its own": _plugin(
        "expanders",
        """
        class Bad(Expander):
            api_version = 1
            def best(self, options, context): return [Option(group=options[0].group, nodes=99, pods=())]
        """,
        "best",
        "not one of those it was given",
    ),
    "nodes in words": _plugin(
        "estimators",
        """
        class Bad(Estimator):
            api_version = 1
            def estimate(self, group, pods, simulation, limit): return Estimate(nodes="3", pods=tuple(pods))
        """,
        "estimate",
        "text",
    ),
    "numbers for pods": _plugin(
        "processors",
        """
        class Bad(PendingPodsProcessor):
            api_version = 1
            def process(self, pods, context): return [1, 2]
        """,
        "process",
        "an int in it instead of PodSet",
    ),
    "a group bent out of shape": _hook(
        "from dataclasses import replace; return [replace(each, max_size='many') for each in groups]", "max_size"
    ),
    "a cause that is missing": _provider(
        "increase",
        "no attribute 'cause'",
        group="""
        def increase(self, count):
            class NoRoom(CapacityError):
                def __init__(self): Exception.__init__(self, "no room")
            raise NoRoom
        """,
    ),
    "a status in words": _provider(
        "grow", "TypeError", group="def increase(self, count): raise ApiServerError('gone', status='Gone')"
    ),
    "a lease of its own": _provider(
        "increase", "no leader here", group="def increase(self, count): raise NotLeaderError('no leader here')"
    ),
    "an error that can't tell": _expander(_UNTOLD, r"Untold: its text can't be told \(AttributeError\)"),
    "a refresh with an error that can't tell": _provider(
        "could not be read", "its text can't be told", provider=_method("def refresh(self):", _UNTOLD)
    ),
    "an order with an error that can't tell": _provider(
        "increase", "its text can't be told", group=_method("def increase(self, count):", _UNTOLD)
    ),
    "an order with a temporary error that can't tell": _provider(
        "grow bad failed",
        "its text can't be told",
        group=_method("def increase(self, count):", _UNTOLD.replace("(Exception)", "(TemporaryError)")),
    ),
    "an error that can't be written": _provider(
        "grow bad failed", "udc80", group=r"def increase(self, count): raise TemporaryError('no \udc80')"
    ),
    "a label that can't be written": _provider(
        "group",
        "text that can be written",
        group=r"def template(self): return a_template(cpu='4', labels={'pool': 'bad', 'of': '\udc80'})",
    ),
    "nodes of another provider": _provider(
        "group_of", "none of its groups", provider="def group_of(self, node): return node.metadata.labels['pool']"
    ),
    "metrics with numbers for labels": _metrics(
        """
        yield GaugeMetricFamily("bad", "", value=None)
        family = GaugeMetricFamily("worse", "", labels=["zone"])
        family.add_metric([1], 1)
        yield family
        """,
        "'int' object has no attribute 'replace'",
    ),
    "metrics that are none": _metrics("yield None", "NoneType instead of a metric"),
    "a price that is no number": _plugin(
        "prices",
        """
        class Bad(Prices):
            api_version = 1
            def node_price(self, template, start, end): return "free"
            def pod_price(self, pod, start, end): return None
        """,
        "node_price",
        "not a finite number",
    ),
    "a price beyond measure": _plugin(
        "prices",
        """
        class Bad(Prices):
            api_version = 1
            def node_price(self, template, start, end): return 1e305
            def pod_price(self, pod, start, end): return None
        """,
        "node_price",
        "not a number from",
    ),
    # It mutates what it is given.
    "labels changed by a hook": _hook("groups[0].template.labels['pool'] = 'mine'", "read-only"),
    "amounts changed by an expander": _expander("options[0].group.template.allocatable['cpu'] = 0", "read-only"),
    "pods changed by a processor": _processor("pods[0].pod.metadata.labels['mine'] = 'yes'", "read-only"),
    "nodes changed by a hook": _plugin(
        "hooks",
        """
        class Bad(Plugin):
            api_version = 1
            @hookimpl
            def adjust_candidates(self, nodes, now): nodes[0].metadata.labels.clear()
        """,
        "adjust_candidates",
        "read-only",
        keeps_nodes=True,
    ),
    # It makes itself heard, or starts others.
    "a thousand lines of output": _expander("[print('choosing', n) for n in range(1000)]", "choosing 999"),
    "a program started by a hook": _hook("subprocess.run(['true'])", "tried to start a program"),
    "a shell in an expander": _expander("os.system('true')", "tried to start a program"),
    "a fork": _processor("os.fork()", "copy the process"),
    # It changes what belongs to all.
    "a signal handler": _expander("signal.signal(signal.SIGTERM, signal.SIG_IGN)", "changed the handler of SIGTERM"),
    "an alarm": _expander("signal.alarm(1)", "changed the alarm timer"),
    "a locale": _expander(
        "locale.setlocale(locale.LC_ALL, 'C.UTF-8' if locale.setlocale(locale.LC_ALL) == 'C' else 'C')",
        "changed the locale",
    ),
    "a time zone": _expander("os.environ['TZ'] = 'Asia/Kathmandu'; time.tzset()", "changed the time zone"),
    "a working directory": _expander("os.chdir('/')", "changed the working directory"),
    "an output of its own": _expander("sys.stdout = sys.stderr", "changed the standard output"),
    "logging set up anew": _expander("logging.basicConfig(level=logging.DEBUG, force=True)", "changed the root logger"),
    "a logger turned down": _expander(
        "logging.getLogger('nodewright').setLevel(logging.CRITICAL)", "changed Nodewright's logger"
    ),
    "silence": _expander("logging.disable(logging.CRITICAL)", "changed the level of all logging"),
    "no garbage collection": _expander("gc.disable()", "changed garbage collection"),
    "impatient sockets": _expander("socket.setdefaulttimeout(0.001)", "changed the timeout of sockets"),
    "a loud root logger": _expander("logging.root.setLevel(1)", "changed the root logger"),
    "a silent core": _expander(
        "logging.getLogger('nodewright').setLevel(logging.CRITICAL)", "changed Nodewright's logger"
    ),
    "impatient sockets on import": _import("socket.setdefaulttimeout(0.001)", "changed the timeout of sockets"),
    "a signal handler on import": _import(
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)", "changed the handler of SIGTERM"
    ),
    # It leaks.
    "threads": _expander(
        "[threading.Thread(target=time.sleep, args=(5,), daemon=True).start() for _ in range(70)]",
        r"70 threads are running that it started",
    ),
    "memory": _expander("Bad.kept = bytearray(os.urandom(1)) * (400 * 2**20)", r"grown by \d+ MiB"),
    # It hangs.
    "a refresh that hangs": _provider("", "no answer within 1 s", provider="def refresh(self): time.sleep(4)"),
    # It is for another contract.
    "a plugin without a version": _plugin(
        "expanders",
        """
        class Bad(Expander):
            def best(self, options, context): return options
        """,
        "load",
        "does not say which version of the contract",
    ),
    "a plugin of the future": _plugin(
        "expanders",
        """
        class Bad(Expander):
            api_version = 99
            def best(self, options, context): return options
        """,
        "load",
        "written for contract version 99",
    ),
    # Only a process of its own holds it.
    "an expander that hangs": _expander(
        "while True: time.sleep(0.1)", r"gave no answer \(best\) within 2 s", isolated=True
    ),
    "an expander that holds the interpreter": _expander(
        "re.match(r'(a+)+$', 'a' * 64 + 'b')", r"gave no answer \(best\) within 2 s", isolated=True
    ),
    "an isolated property that raises": _plugin(
        "expanders",
        """
        class Bad(Expander):
            api_version = 1
            pod_annotations = property(lambda self: 1 / 0)
            def best(self, options, context): return options
        """,
        "load",
        "ZeroDivisionError",
        isolated=True,
    ),
    "an expander that ends at once": _expander(
        "os._exit(7)", "the process of bad ended with exit code 7", isolated=True
    ),
    "an expander that crashes": _expander("ctypes.string_at(0)", r"ended with signal 11 \(SIGSEGV\)", isolated=True),
    "an expander that eats memory": _expander(
        "bytearray(8 * 2**30)", "reached its limit of memory of 2Gi", isolated=True
    ),
    "a refresh that ends the process": _provider(
        "refresh", "the process of bad ended with exit code 7", provider="def refresh(self): os._exit(7)", isolated=True
    ),
}
