"""From words to a command, and from errors to messages and exit statuses."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable

import pytest
from nodewright import __version__
from nodewright.api import Command
from nodewright.cli import commands
from nodewright.cli.commands import BUILT_IN
from nodewright.cli.main import main

Install = Callable[..., str]

USAGE = "usage: nodewright [-h | --version] <command> ..."

COMMAND = """
    from nodewright.api import *

    class Hello(Command):
        summary = "says hello"

        def add_arguments(self, parser):
            parser.add_argument("name", help="who is greeted")

        def run(self, arguments):
            print("hello,", arguments.name)
            return 3
"""


def saying(statement: str, *, passthrough: bool = False) -> str:
    """The code of a command that does *statement*."""
    return f"""
from nodewright.api import *

class Hello(Command):
    summary = "says hello"
    passthrough = {passthrough}
    def add_arguments(self, parser):
        parser.add_argument("--loud", help="greet loudly")
    def run(self, arguments):
        {statement}
        return 0
"""


#: What the overview and the version have to do without.
HEAVY = {
    "argparse",
    "urllib3",
    "msgspec",
    "nodewright.api",
    "nodewright.cli.run",
    "nodewright_fake.demo.command",
    "nodewright_fake.world_command",
    "numpy",
    "pluggy",
    "prometheus_client",
    "pydantic",
    "rich",
    "stevedore",
    "yaml",
}


def imported_by(*lines: str) -> set[str]:
    """All modules that a process has imported once it has run ``nodewright`` with each of *lines*."""
    program = (
        "import sys\nfrom nodewright.cli.main import main\n"
        "for line in sys.argv[1:]:\n    try:\n        main(line.split())\n    except SystemExit:\n        pass\n"
        "print('imported:', *sys.modules)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    output = subprocess.check_output([sys.executable, "-c", program, *lines], text=True, env=environment)
    return set(output.rpartition("imported:")[2].split())


def test_a_command_of_a_distribution_is_run_with_its_arguments(install, capsys) -> None:
    install("acme", {"commands/hello": "Hello"}, COMMAND)
    assert main(["hello", "world"]) == 3
    assert capsys.readouterr().out == "hello, world\n"


def test_a_command_explains_its_arguments(install, capsys) -> None:
    install("acme", {"commands/hello": "Hello"}, COMMAND)
    with pytest.raises(SystemExit, match=r"^0$"):
        main(["hello", "--help"])
    assert capsys.readouterr().out.startswith("usage: nodewright hello [-h] name\n\nsays hello\n")


def test_wrong_arguments_end_with_status_2(install, capsys) -> None:
    install("acme", {"commands/hello": "Hello"}, COMMAND)
    with pytest.raises(SystemExit, match=r"^2$"):
        main(["hello", "world", "--loud"])
    assert "nodewright hello: error: unrecognized arguments: --loud" in capsys.readouterr().err


def test_a_command_may_take_its_words_as_they_are(install, capsys) -> None:
    install("acme", {"commands/hello": "Hello"}, saying("print(arguments.rest)", passthrough=True))
    assert main(["hello", "-v=4", "--nodes=1:5:a", "--", "--help"]) == 0
    assert capsys.readouterr().out == "['-v=4', '--nodes=1:5:a', '--', '--help']\n"


def test_a_command_that_takes_its_words_as_they_are_has_help_all_the_same(install, capsys) -> None:
    install("acme", {"commands/hello": "Hello"}, saying("1 / 0", passthrough=True))
    assert main(["hello", "--help"]) == 0
    assert "--loud LOUD  greet loudly" in capsys.readouterr().out


class TestWrongWords:
    """Words that lead nowhere end with status 2 and a hint."""

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            ([], f"{USAGE}\nnodewright --help lists the commands\n"),
            (["plugin"], "nodewright: no command is called 'plugin': did you mean 'plugins'?\n"),
            (
                ["--v=4", "--nodes=1:5:a"],
                f"{USAGE}\nnodewright: --v=4 goes after a command: nodewright run --v=4\n",
            ),
        ],
    )
    def test_the_message_says_what_to_do(self, words, message, capsys) -> None:
        assert main(words) == 2
        assert capsys.readouterr() == ("", message)

    def test_a_command_of_a_distribution_that_is_not_there_says_what_to_install(self, monkeypatch, capsys) -> None:
        monkeypatch.setattr("nodewright.plugins.registry.registrations", lambda kind: ())
        assert main(["demo"]) == 2
        assert capsys.readouterr().err == (
            "nodewright: no command is called 'demo': "
            "install it in Nodewright's folder with: pip install ./plugins/fake\n"
        )

    def test_a_command_that_can_not_be_imported_says_why(self, install, capsys) -> None:
        install("acme", {"commands/hello": "Hello"}, "import boto4")
        assert main(["hello"]) == 2
        assert capsys.readouterr().err == (
            "nodewright: command 'hello' of acme 1.0 can't be imported: "
            "ModuleNotFoundError: No module named 'boto4'; reinstall acme, or ask its author\n"
        )


class TestEnds:
    """How a command ends is told by status and message."""

    @pytest.mark.parametrize(
        ("statement", "status", "message"),
        [
            ("raise TemporaryError('the cloud sleeps')", 1, "nodewright: the cloud sleeps\n"),
            ("raise PluginError('x', 'no x')", 2, "nodewright: no x\n"),
            (
                "raise ConfigurationError(*(Problem(message=m, source='a.yaml', line=3) for m in ('one', 'two')))",
                2,
                "a.yaml:3: one\na.yaml:3: two\n",
            ),
            ("raise KeyboardInterrupt", 130, ""),
        ],
    )
    def test_expected_errors_are_told_in_words(self, install, statement, status, message, capsys) -> None:
        install("acme", {"commands/hello": "Hello"}, saying(statement))
        assert main(["hello"]) == status
        assert capsys.readouterr() == ("", message)

    def test_a_bug_is_not_hidden(self, install) -> None:
        install("acme", {"commands/hello": "Hello"}, saying("1 / 0"))
        with pytest.raises(ZeroDivisionError):
            main(["hello"])

    def test_an_interrupt_while_python_still_imports_is_not_talked_about(self) -> None:
        program = (
            "import os, signal, sys\n"
            "class Interrupt:\n"
            "    def find_spec(self, name, *_):\n"
            "        name == 'nodewright.cli.main' and os.kill(os.getpid(), signal.SIGINT)\n"
            "sys.meta_path.insert(0, Interrupt())\n"
            "from nodewright.__main__ import program\n"
            "program()"
        )
        ended = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
        assert (ended.returncode, ended.stderr) == (-signal.SIGINT, b"")

    def test_a_command_hears_interrupts(self, install) -> None:
        install("acme", {"commands/hello": "Hello"}, saying("import os, signal; os.kill(os.getpid(), signal.SIGINT)"))
        program = "from nodewright.__main__ import program; program()"
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        ended = subprocess.run(
            [sys.executable, "-c", program, "hello"], capture_output=True, check=False, env=environment
        )
        assert (ended.returncode, ended.stderr) == (130, b"")

    def test_a_reader_that_has_gone_is_no_reason_to_complain(self) -> None:
        program = "import sys; from nodewright.cli.main import main; sys.exit(main(['plugins', '-o', 'json']))"
        with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
            assert run.stdout
            assert run.stderr
            run.stdout.close()
            assert run.stderr.read() == b""
            assert run.wait() == 141


class TestOverview:
    """``nodewright --help`` lists what there is."""

    def test_all_commands_are_listed_with_their_summaries(self, install, capsys) -> None:
        install("acme", {"commands/hello": "Hello"}, COMMAND)
        assert main(["--help"]) == 0
        output = capsys.readouterr().out
        assert output.startswith(f"{USAGE}\n")
        lines = output.splitlines()
        assert "  hello        says hello" in lines
        assert "  plugins      show every plugin: where it comes from, and whether it works" in lines
        assert any(line.startswith("  run ") for line in lines)

    def test_a_command_that_can_not_be_imported_hides_no_other(self, install, capsys) -> None:
        install("acme", {"commands/hello": "Hello"}, "import boto4")
        assert main(["-h"]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert "  hello        (can't be loaded; nodewright plugins says why)" in lines
        assert "  plugins      show every plugin: where it comes from, and whether it works" in lines

    def test_a_summary_that_is_not_written_as_plain_text_is_asked_of_the_command(self, install, capsys) -> None:
        install("acme", {"commands/hello": "Hello"}, COMMAND.replace('"says hello"', '"says " + "hello"'))
        assert main(["--help"]) == 0
        assert "  hello        says hello" in capsys.readouterr().out.splitlines()

    def test_a_command_that_two_distributions_claim_is_listed_as_unusable(self, install, capsys) -> None:
        install("acme", {"commands/hello": "Hello"}, COMMAND)
        install("bolt", {"commands/hello": "Hello"}, COMMAND)
        assert main(["--help"]) == 0
        assert "  hello        (can't be loaded; nodewright plugins says why)" in capsys.readouterr().out.splitlines()

    def test_the_overview_imports_neither_a_command_nor_the_contract(self, install) -> None:
        install("acme", {"commands/hello": "Hello"}, COMMAND)
        assert not imported_by("--help") & {*HEAVY, "acme"}

    def test_the_version_does_not_even_ask_which_distributions_there_are(self) -> None:
        assert not imported_by("--version") & {*HEAVY, "importlib.metadata"}

    @pytest.mark.parametrize("name", sorted(BUILT_IN))
    def test_each_command_of_ours_can_be_imported_and_says_what_it_does(self, name) -> None:
        assert issubclass(commands.load(name), Command)
        assert re.fullmatch(r"[a-z][^\n]+[^.]", BUILT_IN[name].summary)

    def test_the_help_of_a_command_imports_nothing_that_only_its_work_needs(self) -> None:
        heavy = {"urllib3", "nodewright.cluster", "numpy", "prometheus_client", "stevedore"}
        assert not imported_by(*(f"{name} --help" for name in {*BUILT_IN} - {"plugins"})) & heavy

    def test_configuration_is_checked_and_translated_without_the_loop(self, tmp_path) -> None:
        file = tmp_path / "nodewright.yaml"
        file.write_text("apiVersion: nodewright.dev/v1\nkind: Autoscaler\nproviders: []\n")
        heavy = {"urllib3", "nodewright.cluster", "nodewright.kube", "numpy", "prometheus_client"}
        assert not imported_by("config flags", "config from-flags --v=3", f"config show {file} --live=false") & heavy

    def test_the_version_is_told(self, capsys) -> None:
        assert main(["--version"]) == 0
        assert capsys.readouterr().out == f"nodewright {__version__}\n"

    def test_python_runs_it_as_a_module(self) -> None:
        told = subprocess.check_output([sys.executable, "-m", "nodewright", "--version"], text=True)
        assert told == f"nodewright {__version__}\n"
