"""From a name in YAML to a plugin, and all that can go wrong on the way, with the words that people get to read."""

import logging
import sys
from collections.abc import Callable
from datetime import timedelta

import pytest
from nodewright import __version__
from nodewright.api import Expander, PluginError, ProviderContext
from nodewright.plugins import PluginState, Registry, registry
from nodewright.plugins.entrypoints import PLUGIN_KINDS
from nodewright.testing import SteppedClock

Install = Callable[..., str]

EXPANDER = """
    from nodewright.api import Expander

    class Mine(Expander):
        '''Keeps them all.

        For ever.
        '''

        def best(self, options, context):
            return options
"""

API = "nodewright.api"
NOT_IMPORTABLE = "reinstall acme, or ask its author"


def refusal(kind: str, name: str, config: dict[str, object] | None = None) -> str:
    """The message with which a plugin is refused."""
    registry = Registry()
    with pytest.raises(PluginError) as caught:
        registry.load(kind, name) if config is None else registry.create(kind, name, config)
    assert caught.value.plugin == name
    return str(caught.value)


def test_a_plugin_is_loaded_by_its_name(install) -> None:
    install("acme", {"expanders/mine": "Mine"}, EXPANDER)
    mine = Registry().load("expanders", "mine")
    assert issubclass(mine, Expander)
    assert mine.__name__ == "Mine"


def test_names_are_known_without_importing_anything(install) -> None:
    module = install("acme", {"expanders/mine": "Mine", "expanders/a-second": "Mine"}, EXPANDER)
    names = Registry().names("expanders")
    assert [name for name in names if name in ("a-second", "mine", "random")] == ["a-second", "mine", "random"]
    assert module not in sys.modules


def test_loading_one_plugin_imports_no_other(install) -> None:
    wanted = install("acme", {"expanders/mine": "Mine"}, EXPANDER)
    other = install("other", {"expanders/other": "Mine"}, EXPANDER)
    Registry().load("expanders", "mine")
    assert wanted in sys.modules
    assert other not in sys.modules


def test_nothing_is_written_to_the_users_cache(install, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    install("acme", {"expanders/mine": "Mine"}, EXPANDER)
    Registry().load("expanders", "mine")
    assert not (tmp_path / "cache").exists()


def test_a_distribution_that_is_installed_later_is_seen_by_a_new_registry(install) -> None:
    before = Registry()
    assert "mine" not in before.names("expanders")
    install("acme", {"expanders/mine": "Mine"}, EXPANDER)
    assert "mine" in Registry().names("expanders")
    assert "mine" not in before.names("expanders")


# Names that no distribution registered


def test_a_name_with_a_typo_gets_the_right_one() -> None:
    assert refusal("expanders", "least-wast") == "no expander is called 'least-wast': did you mean 'least-waste'?"


def test_a_name_that_is_nothing_like_any_other_gets_all_names() -> None:
    assert refusal("estimators", "crystal-ball") == "no estimator is called 'crystal-ball': there is binpacking"


def test_a_name_of_a_kind_of_which_there_is_none_says_so() -> None:
    assert refusal("prices", "list") == "no price model is called 'list': none is installed"


def test_a_name_whose_distribution_is_known_says_what_to_install(monkeypatch) -> None:
    monkeypatch.setitem(registry.DISTRIBUTIONS, ("providers", "lunar"), "nodewright-lunar")
    assert refusal("providers", "lunar") == (
        "no provider is called 'lunar': install it in Nodewright's folder with: pip install ./plugins/lunar"
    )
    assert refusal("providers", "lunr") == (
        "no provider is called 'lunr': did you mean 'lunar'? "
        "Install it in Nodewright's folder with: pip install ./plugins/lunar"
    )


def test_a_name_that_is_still_to_be_implemented_says_so_and_names_no_package() -> None:
    coming = "it is still to come; until then, you would have to write it"
    assert refusal("providers", "azure") == f"no provider is called 'azure': {coming}"
    assert refusal("providers", "cluster-api") == (
        "no provider is called 'cluster-api': did you mean 'clusterapi'? It is still to come"
    )


def test_a_name_that_two_distributions_claim_is_given_to_neither(install) -> None:
    install("acme", {"expanders/mine": "Mine"}, EXPANDER)
    install("borg", {"expanders/mine": "Mine"}, EXPANDER, version="2.0")
    assert refusal("expanders", "mine") == (
        "expander 'mine' is registered by acme 1.0 and by borg 2.0: uninstall all but one of them, "
        "or name the one that is meant, such as acme/mine"
    )


def test_a_name_with_its_distribution_says_which_one_is_meant(install) -> None:
    install("acme", {"expanders/mine": "Mine"}, EXPANDER)
    install("borg-expanders", {"expanders/mine": "Mine"}, EXPANDER)
    assert Registry().load("expanders", "acme/mine").__module__ == "acme"
    assert Registry().load("expanders", "Borg_Expanders/mine").__module__ == "borg_expanders"


def test_a_built_in_keeps_its_name_whoever_else_has_it(install) -> None:
    install("acme", {"expanders/random": "Mine"}, EXPANDER)
    assert Registry().load("expanders", "random").__module__ == "nodewright.strategies.expanders"
    assert Registry().load("expanders", "acme/random").__module__ == "acme"
    (shadowed,) = [each for each in Registry().statuses() if each.distribution == "acme"]
    assert (shadowed.state, shadowed.reason) == (
        PluginState.SHADOWED,
        "nodewright has one of this name, which is used: write acme/random to use this one",
    )


def test_a_plugin_in_a_misspelt_entry_point_group_is_named(install) -> None:
    install("acme", {"expander/mine": "Mine"}, EXPANDER)
    assert refusal("expanders", "mine") == (
        "no expander is called 'mine': acme registers it in the entry-point group nodewright.expander: "
        "it has to be nodewright.expanders"
    )
    (status,) = [each for each in Registry().statuses() if each.distribution == "acme"]
    assert (status.state, status.reason) == (
        PluginState.FAILED,
        "there are no plugins of kind nodewright.expander: did you mean nodewright.expanders?",
    )


# Versions of the contract


def test_a_plugin_that_states_no_version_of_the_contract_is_refused(install) -> None:
    install("acme", {"expanders/mine": "Mine"}, EXPANDER, requires="")
    assert refusal("expanders", "mine") == (
        "expander 'mine' of acme 1.0 does not say which version of the contract it was written for: "
        "write api_version = 1 in class Mine, or require nodewright with an upper bound"
    )


def test_a_requirement_without_an_upper_bound_states_no_version(install) -> None:
    install("acme", {"expanders/mine": "Mine"}, EXPANDER, requires=">=0.1")
    assert "does not say which version" in refusal("expanders", "mine")


def test_the_version_in_the_class_is_enough(install) -> None:
    stated = EXPANDER.replace("def best", "api_version = 1\n\n        def best")
    install("acme", {"expanders/mine": "Mine"}, stated, requires="")
    assert Registry().load("expanders", "mine").api_version == 1


def test_the_version_in_a_base_class_of_the_same_package_is_enough(install) -> None:
    stated = EXPANDER.replace("def best", "api_version = 1\n\n        def best") + "\n    class Other(Mine): pass\n"
    install("acme", {"expanders/mine": "Other"}, stated, requires="")
    assert Registry().load("expanders", "mine").__name__ == "Other"


def test_a_plugin_that_requires_other_releases_is_refused(install) -> None:
    install("acme", {"expanders/mine": "Mine"}, EXPANDER, requires=">=2,<3")
    assert refusal("expanders", "mine") == (
        f"expander 'mine' of acme 1.0 was written for nodewright<3,>=2, but this is {__version__}: upgrade acme"
    )


# Plugins that can't be imported


def test_a_plugin_that_raises_on_import_is_named_with_its_error(install) -> None:
    install("acme", {"expanders/mine": "Mine"}, "import boto4")
    assert refusal("expanders", "mine") == (
        f"expander 'mine' of acme 1.0 can't be imported: ModuleNotFoundError: No module named 'boto4'; {NOT_IMPORTABLE}"
    )


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("raise RuntimeError('no\\nluck')", "RuntimeError: no luck"),
        ("import sys; sys.exit('bye')", "it tried to end the process (SystemExit: bye)"),
        ("assert False", "AssertionError"),
        ("def", "SyntaxError: invalid syntax (acme.py, line 1)"),
        ("", "AttributeError: module 'acme' has no attribute 'Mine'"),
    ],
)
def test_however_an_import_fails_it_is_told_in_one_line(install, code, error) -> None:
    install("acme", {"expanders/mine": "Mine"}, code)
    message = refusal("expanders", "mine")
    assert message == f"expander 'mine' of acme 1.0 can't be imported: {error}; {NOT_IMPORTABLE}"


def test_ctrl_c_during_an_import_is_no_fault_of_the_plugin(install) -> None:
    install("acme", {"expanders/mine": "Mine"}, "raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt):
        Registry().load("expanders", "mine")


# Plugins that do not keep the contract


@pytest.mark.parametrize(
    ("kind", "code", "problem"),
    [
        ("expanders", "Mine = 1", "acme:Mine is not a class"),
        ("expanders", "class Mine: pass", "acme:Mine is not a subclass of nodewright.api.Plugin"),
        (
            "expanders",
            "from nodewright.api import Estimator as Mine",
            "acme:Mine is not a subclass of nodewright.api.Expander",
        ),
        (
            "processors",
            "from nodewright.api import Expander as Mine",
            f"acme:Mine is not a subclass of {API}.PendingPodsProcessor or {API}.ScaleDownCandidatesProcessor",
        ),
        (
            "providers",
            "from nodewright.api import Provider\nclass Mine(Provider):\n    def refresh(self): pass",
            "acme:Mine does not implement group_of, groups",
        ),
        (
            "hooks",
            "from nodewright.api import Plugin\nclass Mine(Plugin):\n    Config = dict",
            "its Config is not a subclass of nodewright.api.PluginConfig",
        ),
        (
            "hooks",
            "from nodewright.api import Plugin as Mine",
            "it implements no hook: mark its methods with @hookimpl",
        ),
        (
            "hooks",
            "from nodewright.api import *\nclass Mine(Plugin):\n    @hookimpl\n    def veto_scale_dwn(self): pass",
            "Mine.veto_scale_dwn implements a hook that does not exist: did you mean 'veto_scale_down'?",
        ),
    ],
)
def test_a_class_that_does_not_keep_the_contract_is_refused(install, kind, code, problem) -> None:
    install("acme", {f"{kind}/mine": "Mine"}, code)
    assert refusal(kind, "mine") == f"{PLUGIN_KINDS[kind]} 'mine' of acme 1.0 can't be used: {problem}"


@pytest.mark.parametrize(("version", "upgrade"), [(0, "acme"), (2, "nodewright")])
def test_a_plugin_for_another_contract_says_what_to_upgrade(install, version, upgrade) -> None:
    code = f"from nodewright.api import Expander\nclass Mine(Expander):\n    api_version = {version}"
    install("acme", {"expanders/mine": "Mine"}, code)
    assert refusal("expanders", "mine") == (
        f"expander 'mine' of acme 1.0 was written for contract version {version}, "
        f"but nodewright {__version__} has version 1: upgrade {upgrade}"
    )


# Making plugins

CONFIGURED = """
    from pydantic import Field, field_validator
    from nodewright.api import Expander, PluginConfig

    class MineConfig(PluginConfig):
        zones: tuple[str, ...]
        max_price: float = Field(default=1.0, ge=0)

        @field_validator("zones")
        @classmethod
        def fragile(cls, zones):
            return zones if zones[0] else 1 / 0

    class Mine(Expander):
        Config = MineConfig

        def __init__(self, config):
            super().__init__(config)
            if config.zones == ("nowhere",):
                raise LookupError("zone nowhere does not exist")

        def best(self, options, context):
            return options
"""


def test_a_plugin_is_made_from_its_configuration(install) -> None:
    install("acme", {"expanders/mine": "Mine"}, CONFIGURED)
    mine = Registry().create("expanders", "mine", {"zones": ["a"], "maxPrice": 2})
    assert mine.config.model_dump() == {"zones": ("a",), "max_price": 2.0}


def test_a_provider_is_given_its_context_too(install) -> None:
    code = """
        from nodewright.api import Provider

        class Cloud(Provider):
            def refresh(self): pass
            def groups(self): return ()
            def group_of(self, node): return None
    """
    install("acme", {"providers/acme": "Cloud"}, code)
    context = ProviderContext(clock=SteppedClock())
    assert vars(Registry().create("providers", "acme", {}, context))["context"] is context


def test_all_mistakes_in_a_configuration_are_told_at_once(install) -> None:
    install("acme", {"expanders/mine": "Mine"}, CONFIGURED)
    assert refusal("expanders", "mine", {"maxPrice": -1, "colour": "red"}) == (
        "expander 'mine' of acme 1.0 can't be used: its configuration is not valid: zones: Field required; "
        "maxPrice: Input should be greater than or equal to 0; colour: Extra inputs are not permitted"
    )


def test_a_configuration_that_breaks_the_plugins_own_check_is_told(install) -> None:
    install("acme", {"expanders/mine": "Mine"}, CONFIGURED)
    assert refusal("expanders", "mine", {"zones": [""]}) == (
        "expander 'mine' of acme 1.0 can't be used: "
        "its configuration can't be checked: ZeroDivisionError: division by zero"
    )


def test_a_plugin_that_raises_when_it_is_made_is_named_with_its_error(install) -> None:
    install("acme", {"expanders/mine": "Mine"}, CONFIGURED)
    assert refusal("expanders", "mine", {"zones": ["nowhere"]}) == (
        "expander 'mine' of acme 1.0 can't be started: LookupError: zone nowhere does not exist"
    )


# What `nodewright plugins` shows


def test_every_implementation_is_known_with_its_state(install) -> None:
    install("good", {"expanders/good": "Mine"}, EXPANDER, version="1.2.3")
    install("bad", {"expanders/bad": "Mine"}, "import boto4")
    install("old", {"expanders/old": "Mine"}, "from nodewright.api import Plugin\nclass Mine(Plugin): api_version = 0")
    known = {each.name: each for each in Registry().statuses() if each.distribution in ("good", "bad", "old")}

    good = known["good"]
    assert (good.kind, good.distribution, good.version, good.state) == ("expanders", "good", "1.2.3", PluginState.READY)
    assert (good.description, good.reason) == ("Keeps them all.", "")
    assert known["bad"].state == PluginState.FAILED
    assert known["bad"].reason == (
        "can't be imported: ModuleNotFoundError: No module named 'boto4'; reinstall bad, or ask its author"
    )
    assert known["old"].state == PluginState.INCOMPATIBLE
    assert known["old"].reason.endswith("has version 1: upgrade old")


def test_a_name_claimed_twice_is_known_twice_with_both_owners(install) -> None:
    install("acme", {"expanders/mine": "Mine"}, EXPANDER)
    install("borg", {"expanders/mine": "Mine"}, EXPANDER)
    known = [each for each in Registry().statuses() if each.name == "mine"]
    assert [(each.distribution, each.state) for each in known] == [
        ("acme", PluginState.FAILED),
        ("borg", PluginState.FAILED),
    ]
    assert {each.reason for each in known} == {
        (
            "expander 'mine' is registered by acme 1.0 and by borg 1.0: uninstall all but one of them, "
            "or name the one that is meant, such as acme/mine"
        )
    }


def test_commands_are_known_by_their_summary(install) -> None:
    code = """
        from nodewright.api import Command

        class Hello(Command):
            summary = "says hello"
            def add_arguments(self, parser): pass
            def run(self, arguments): return 0
    """
    install("acme", {"commands/hello": "Hello"}, code)
    (hello,) = [each for each in Registry().statuses() if each.name == "hello"]
    assert (hello.kind, hello.state, hello.description) == ("commands", PluginState.READY, "says hello")
    assert Registry().load_command("hello").__name__ == "Hello"


# What a plugin prints, and how it ends


def test_what_a_plugin_prints_while_it_is_loaded_and_made_is_logged(install, capsys, caplog) -> None:
    printing = EXPANDER.replace("from nodewright", "print('imported')\n    from nodewright", 1).replace(
        "def best", "def __init__(self, config):\n            print('made')\n\n        def best"
    )
    install("acme", {"expanders/mine": "Mine"}, printing)
    Registry().create("expanders", "mine", {})
    printed = capsys.readouterr()
    assert printed.out == ""
    assert [each.getMessage() for each in caplog.records] == [
        "plugin mine printed in import: imported",
        "plugin mine printed in load: made",
    ]


def test_a_constructor_that_ends_the_process_is_told_in_one_line(install) -> None:
    ending = EXPANDER.replace("def best", "def __init__(self, config): raise SystemExit(2)\n\n        def best")
    install("acme", {"expanders/mine": "Mine"}, ending)
    assert refusal("expanders", "mine", {}) == (
        "expander 'mine' of acme 1.0 can't be started: it tried to end the process (SystemExit: 2)"
    )


def test_a_plugin_of_metrics_alone_needs_no_hook(install) -> None:
    install(
        "acme",
        {"hooks/mine": "Mine"},
        """
        from nodewright.api import Plugin

        class Mine(Plugin):
            def collectors(self): return ()
        """,
    )
    assert Registry().load("hooks", "mine").__name__ == "Mine"


LOGGING = """
    import logging
    from nodewright.api import Expander

    logging.basicConfig(level=logging.DEBUG, force=True)
    logging.getLogger("nodewright").setLevel(logging.ERROR)

    class Mine(Expander):
        def best(self, options, context): return options
"""


def test_what_an_import_changes_of_logging_is_put_back_and_named(install, caplog) -> None:
    install("acme", {"expanders/mine": "Mine"}, LOGGING)
    root, own = logging.getLogger(), logging.getLogger("nodewright")
    before = root.level, list(root.handlers), own.level
    Registry().load("expanders", "mine")
    assert (root.level, list(root.handlers), own.level) == before
    assert [each.getMessage() for each in caplog.records] == [
        "plugin mine, import: it changed the root logger: it was put back",
        "plugin mine, import: it changed Nodewright's logger: it was put back",
    ]


# Methods that can't be called


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        (
            "def best(self, options): return options",
            "Mine.best takes self, options, but has to take self, options, context",
        ),
        ("def __init__(self): pass", "Mine.__init__ takes self, but has to take self, config"),
    ],
)
def test_a_method_that_can_not_be_called_is_refused_before_it_is(install, code, problem) -> None:
    install("acme", {"expanders/mine": "Mine"}, EXPANDER + f"\n        {code}\n")
    assert refusal("expanders", "mine") == f"expander 'mine' of acme 1.0 can't be used: {problem}"


def test_a_method_may_take_more_if_that_has_defaults(install) -> None:
    install(
        "acme", {"expanders/mine": "Mine"}, EXPANDER + "\n        def best(self, options, context, *, more=1): pass\n"
    )
    assert Registry().load("expanders", "mine").__name__ == "Mine"


def test_a_name_of_another_kind_says_so(install) -> None:
    install("acme", {"expanders/mine": "Mine"}, EXPANDER)
    assert refusal("hooks", "mine") == (
        "no hook plugin is called 'mine': it is one of the expanders, which stand elsewhere in the configuration"
    )


# Settings


def test_durations_in_settings_are_written_as_everywhere(install) -> None:
    code = EXPANDER.replace(
        "def best",
        "class Config(PluginConfig):\n            lead: timedelta = timedelta(0)\n\n        def best",
    ).replace("import Expander", "import Expander, PluginConfig\n    from datetime import timedelta")
    install("acme", {"expanders/mine": "Mine"}, code)
    assert Registry().configure("expanders", "mine", {"lead": "1h30m"}).lead == timedelta(minutes=90)
