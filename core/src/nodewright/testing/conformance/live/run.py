"""Running the provider suite against a live account, in this process."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from inspect import getdoc, getmodule, isfunction

import pytest

from nodewright.api import PermanentError
from nodewright.testing.conformance.live import rules
from nodewright.testing.conformance.live.cloud import LiveCloud
from nodewright.testing.conformance.live.contract import parts_named_in
from nodewright.testing.conformance.live.results import Outcome, Result, Rule
from nodewright.testing.conformance.page import rule_names
from nodewright.testing.conformance.suite import requirements

#: pytest without what projects, users and other distributions have set up, and without its own report.
_OPTIONS = (
    *("-c", os.devnull, "--noconftest", "--rootdir", os.sep, "--import-mode=importlib", "--capture=sys"),
    *("-p", "no:cacheprovider", "-p", "no:terminal"),
)
_AUTOLOAD, _ADDOPTS = "PYTEST_DISABLE_PLUGIN_AUTOLOAD", "PYTEST_ADDOPTS"


def run(
    cloud: LiveCloud,
    *,
    begin: Callable[[Sequence[Rule]], None],
    start: Callable[[Rule], None],
    tell: Callable[[Result], None],
    keep_going: bool = True,
) -> tuple[Result, ...]:
    """Try all rules with *cloud* and return what came of them; the rules are told first, then each that is
    about to be tried, and its result.

    Unless it is to *keep_going*, the first broken rule is the last that is tried. `KeyboardInterrupt` ends it at once.
    """
    session = _Session(cloud, begin, start, tell)
    words = [*_OPTIONS, *(() if keep_going else ("--exitfirst",)), rules.__file__]
    with _environment({_AUTOLOAD: "1", _ADDOPTS: None}):
        status = pytest.main(words, plugins=[session])
    if status == pytest.ExitCode.INTERRUPTED and session.interrupted:
        raise KeyboardInterrupt
    if status not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERRUPTED):
        raise PermanentError(f"pytest could not run the suite: {session.trouble or pytest.ExitCode(status).name}")
    return tuple(session.results.values())


class _Session:
    """Hands the cloud to the suite, and collects what comes of it."""

    def __init__(
        self,
        cloud: LiveCloud,
        begin: Callable[[Sequence[Rule]], None],
        start: Callable[[Rule], None],
        tell: Callable[[Result], None],
    ) -> None:
        self.results: dict[str, Result] = {}
        self.interrupted = False
        self.trouble = ""
        self._cloud = cloud
        self._begin = begin
        self._start = start
        self._tell = tell
        self._rules: dict[str, Rule] = {}

    @pytest.fixture
    def live_cloud(self) -> LiveCloud:
        """The cloud that the suite is run against."""
        return self._cloud

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Try the rules in the order of the documentation: basic rules first, expensive ones last."""
        order = {name: position for position, name in enumerate(rule_names(rules.TestProvider))}
        items.sort(key=lambda item: order[item.originalname] if isinstance(item, pytest.Function) else len(order))

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Note what the rules are."""
        self._rules = {item.nodeid: _rule(item) for item in session.items if isinstance(item, pytest.Function)}
        self._begin(tuple(self._rules.values()))

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Tell what is tried now."""
        self._start(self._rules[nodeid])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note what came of a part of a test; that it could not be set back outweighs that it passed."""
        rule, known = self._rules[report.nodeid], self.results.get(report.nodeid)
        if report.failed and (known is None or known.outcome is not Outcome.FAILED):
            self.results[report.nodeid] = Result(rule=rule, outcome=Outcome.FAILED, reason=_why(report))
        elif report.skipped:
            self.results[report.nodeid] = Result(rule=rule, outcome=Outcome.SKIPPED, reason=_why_skipped(report))
        elif report.when == "call" and report.passed:
            self.results[report.nodeid] = Result(rule=rule, outcome=Outcome.PASSED)
        if report.when == "teardown":
            self._tell(self.results[report.nodeid])

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note why the suite can't be collected."""
        if report.failed:
            self.trouble = str(report.longrepr)

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Note that Ctrl-C was pressed; `pytest.exit` comes here too."""
        self.interrupted = isinstance(excinfo.value, KeyboardInterrupt)


def _rule(item: pytest.Function) -> Rule:
    theme = getdoc(getmodule(item.function)) or ""
    test = item.originalname
    owner = next(each for each in item.cls.__mro__ if test in vars(each))
    sentence = " ".join((getdoc(item.function) or "").split())
    contract = parts_named_in(f"{sentence} {getdoc(owner)}")
    name, _, variant = item.name.removeprefix("test_").partition("[")
    return Rule(
        name=name.replace("_", " ") + (f" ({variant.removesuffix(']')})" if variant else ""),
        sentence=sentence,
        theme=theme.partition("\n")[0].rstrip("."),
        test=test,
        needs=(*(str(each) for each in requirements(item.cls, test) if not isfunction(each)), *_needs_of_variant(item)),
        read_on=(
            f"docs/conformance.md#{owner.__name__.lower()}",
            *(f"pydoc nodewright.api.{each}" for each in contract),
        ),
    )


def _needs_of_variant(item: pytest.Function) -> Iterator[str]:
    """What the parameters of a test need, if they say so."""
    callspec = getattr(item, "callspec", None)
    for value in callspec.params.values() if callspec is not None else ():
        yield from getattr(value, "needs", ())


def _why(report: pytest.TestReport) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    message = crash.message if crash is not None else str(report.longrepr)
    when = {"setup": "it could not begin: ", "teardown": "it could not be set back: "}.get(report.when or "", "")
    return when + message.removeprefix("AssertionError: ").removeprefix("Failed: ")


def _why_skipped(report: pytest.TestReport) -> str:
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return reason.removeprefix("Skipped: ")


@contextmanager
def _environment(changes: dict[str, str | None]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in changes}
    _set(changes)
    try:
        yield
    finally:
        _set(before)


def _set(variables: dict[str, str | None]) -> None:
    for name, value in variables.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
