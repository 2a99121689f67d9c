"""Distributions that `nodewright new` writes, and names that it refuses."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from nodewright import __version__
from nodewright.cli.main import main
from nodewright.cli.new import KINDS, LISTS, TEMPLATES, rendered, version_range

#: Every way to begin.
KINDS_AND_LISTS = [(kind, None) for kind in KINDS] + [("processor", each) for each in LISTS[1:]]


def new(*words: str, into: Path, status: int = 0) -> None:
    """Run the command and expect *status*."""
    assert main(["new", *words, "--into", str(into)]) == status


def files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def refused(tmp_path, capsys):
    """Run the command with some words, expect that nothing is written, and return what is said."""

    def run(*words: str) -> str:
        new(*words, into=tmp_path, status=2)
        assert list(tmp_path.iterdir()) == []
        said = capsys.readouterr()
        assert said.out == ""
        return str(said.err)

    return run


class TestWriting:
    @pytest.mark.parametrize("name", ["a", "z" * 24], ids=len)
    def test_what_is_written_is_formatted_and_free_of_lint_whatever_the_name(self, name, tmp_path) -> None:
        for number, (kind, of) in enumerate(KINDS_AND_LISTS):
            folder = tmp_path / str(number)
            folder.mkdir()
            new(kind, name, *(["--of", of] if of else []), into=folder)
        for command in (["check"], ["format", "--check", "--diff"]):
            ruff = [sys.executable, "-m", "ruff", *command, "--no-cache", str(tmp_path)]
            done = subprocess.run(ruff, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stdout + done.stderr

    def test_a_provider_has_a_client_and_a_double_of_its_cloud(self, tmp_path) -> None:
        new("provider", "barn", into=tmp_path)
        assert files(tmp_path) == {
            f"nodewright-barn/{file}"
            for file in (
                "README.md",
                "pyproject.toml",
                "src/nodewright_barn/__init__.py",
                "src/nodewright_barn/inventory.py",
                "src/nodewright_barn/provider.py",
                "src/nodewright_barn/py.typed",
                "tests/shed.py",
                "tests/test_barn.py",
            )
        }

    @pytest.mark.parametrize(("kind", "of"), KINDS_AND_LISTS)
    def test_the_entry_point_names_a_class_that_is_there(self, kind, of) -> None:
        texts = rendered(kind, "near-data", of=of)
        project = tomllib.loads(texts["pyproject.toml"])["project"]
        [(group, entry_points)] = project["entry-points"].items()
        assert group == f"nodewright.{KINDS[kind].plugins}"
        [(name, home)] = entry_points.items()
        module, _, found = home.partition(":")
        assert name == "near-data"
        assert f"\nclass {found}(" in texts[f"src/{module.replace('.', '/')}.py"]

    @pytest.mark.parametrize(("kind", "of"), KINDS_AND_LISTS)
    def test_the_contract_is_named_in_the_class_and_in_the_requirements(self, kind, of) -> None:
        texts = rendered(kind, "near-data", of=of)
        assert sum(text.count("\n    api_version = 1\n") for text in texts.values()) == 1
        requirements = tomllib.loads(texts["pyproject.toml"])["project"]["dependencies"]
        assert f"nodewright{version_range(__version__)}" in requirements

    @pytest.mark.parametrize(("kind", "of"), KINDS_AND_LISTS)
    def test_no_placeholder_is_left_and_places_to_edit_are_marked(self, kind, of) -> None:
        texts = rendered(kind, "near-data", of=of)
        told = "\n".join([*texts, *texts.values()])
        assert not any(word in told.lower() for word in ("my-plugin", "my_plugin", "myplugin", "${"))
        code = [text for place, text in texts.items() if place.startswith("src/") and "class " in text]
        assert all("# EDIT: " in text for text in [*code, texts["pyproject.toml"]])

    def test_a_name_may_contain_the_one_of_the_templates(self) -> None:
        assert "nodewright_not_my_plugin" in rendered("hook", "not-my-plugin")["pyproject.toml"]

    def test_a_name_with_underscores_is_the_one_with_dashes(self, tmp_path) -> None:
        new("expander", "near_tape", into=tmp_path)
        assert "tests/test_near_tape.py" in files(tmp_path / "nodewright-near-tape")

    def test_a_processor_is_of_pending_pods_unless_said_otherwise(self) -> None:
        home = "src/nodewright_mine/processor.py"
        assert "(PendingPodsProcessor)" in rendered("processor", "mine")[home]
        assert "(ScaleDownCandidatesProcessor)" in rendered("processor", "mine", of="scale-down-candidates")[home]

    def test_what_pip_compiles_of_the_templates_is_not_written(self, tmp_path, monkeypatch) -> None:
        compiled = tmp_path / "common" / "__pycache__"
        compiled.mkdir(parents=True)
        (compiled / "setup.cpython-311.pyc").write_bytes(b"\xa7\r\r\n")
        (tmp_path / "hook").symlink_to(TEMPLATES / "hook")
        monkeypatch.setattr("nodewright.cli.new.TEMPLATES", tmp_path)
        assert not [place for place in rendered("hook", "mine") if "pyc" in place]

    def test_the_next_commands_can_be_copied(self, tmp_path, capsys, monkeypatch) -> None:
        monkeypatch.chdir(tmp_path)
        assert main(["new", "hook", "mine"]) == 0
        assert capsys.readouterr().out.endswith(
            "Next:\n\n"
            "  pip install --editable './nodewright-mine[test]'\n"
            "  pytest nodewright-mine\n"
            "  nodewright plugins\n"
        )

    def test_the_next_commands_go_by_the_place(self, tmp_path, capsys) -> None:
        place = tmp_path / "two words"
        place.mkdir()
        new("hook", "mine", into=place)
        assert f"pip install --editable '{place}/nodewright-mine[test]'\n" in capsys.readouterr().out


class TestRefusing:
    @pytest.mark.parametrize(
        ("name", "better"),
        [
            ("My Cloud", "my-cloud"),
            ("NearData", "near-data"),
            ("nodewright-shed", "shed"),
            ("a--b", "a-b"),
            ("3par", "par"),
            ("../shed", "shed"),
            ("a" * 25, "a" * 24),
        ],
    )
    def test_a_malformed_name_gets_a_better_one(self, refused, name, better) -> None:
        said = refused("provider", name)
        assert said.startswith(f"nodewright new: {name!r} can't be the name: take up to 24 lower-case letters")
        assert said.endswith(f"; what about {better}?\n")

    @pytest.mark.parametrize("name", ["", "雲", "42"])
    def test_a_name_without_a_letter_gets_none(self, refused, name) -> None:
        assert "what about" not in refused("provider", name)

    @pytest.mark.parametrize(
        ("kind", "name", "reason"),
        [
            ("expander", "least-waste", "nodewright has an expander of this name already"),
            ("provider", "aws", "nodewright-aws has a provider of this name already"),
            ("provider", "azure", "Nodewright will have a provider of this name"),
            ("hook", "fake", "nodewright-fake is a distribution of Nodewright's own"),
            ("hook", "azure", "nodewright-azure is a distribution of Nodewright's own"),
        ],
    )
    def test_a_name_that_is_known_is_taken(self, refused, kind, name, reason) -> None:
        assert refused(kind, name) == (
            f"nodewright new: {name!r} is taken: {reason}; choose another name, such as my-{name}\n"
        )

    def test_a_name_that_somebody_has_installed_is_taken(self, install, tmp_path, capsys) -> None:
        install("acme", {"expanders/mine": "Mine"}, "")
        install("nodewright-yours", {"expanders/hers": "Hers"}, "")
        for name, reason in {
            "mine": "acme has an expander of this name already",
            "yours": "another distribution nodewright-yours is installed",
        }.items():
            new("expander", name, into=tmp_path, status=2)
            assert reason in capsys.readouterr().err

    @pytest.mark.parametrize("name", ["pod", "pod-fate", "drain-rule"])
    def test_a_class_that_would_hide_another_is_refused(self, refused, name) -> None:
        found = "".join(part.capitalize() for part in name.split("-"))
        assert f"there would be two classes {found} in one module" in refused("drain-rule", name)

    def test_a_class_that_python_can_not_have_is_refused(self, refused) -> None:
        assert "no class can be called None" in refused("expander", "none")

    def test_a_class_that_pytest_takes_for_tests_is_refused(self, refused) -> None:
        assert "pytest takes classes called Test... for tests" in refused("provider", "testbed")

    def test_a_keyword_that_makes_a_good_class_is_a_name(self, tmp_path) -> None:
        new("provider", "class", into=tmp_path)
        assert "class ClassProvider(Provider)" in rendered("provider", "class")["src/nodewright_class/provider.py"]

    def test_signals_come_later(self, refused, capsys) -> None:
        [said] = refused("signal", "mine").splitlines()
        assert "signals come later" in said
        with pytest.raises(SystemExit):
            main(["new", "--help"])
        assert "signal" not in capsys.readouterr().out

    @pytest.mark.parametrize(
        ("kind", "advice"),
        [
            ("providers", "did you mean provider?"),
            ("drain_rule", "did you mean drain-rule?"),
            ("cloud", "say provider, expander, estimator, processor, drain-rule, prices or hook"),
        ],
    )
    def test_an_unknown_kind_gets_advice(self, refused, kind, advice) -> None:
        assert refused(kind, "mine") == f"nodewright new: {kind!r} can't be written: {advice}\n"

    def test_a_list_is_for_processors(self, refused) -> None:
        assert "--of is for processors" in refused("hook", "mine", "--of", "pending-pods")

    def test_a_folder_that_is_there_is_left_alone(self, tmp_path, capsys) -> None:
        new("hook", "mine", into=tmp_path)
        home = tmp_path / "nodewright-mine"
        (home / "README.md").write_text("my own words")
        new("expander", "mine", into=tmp_path, status=2)
        assert f"{home} is there already" in capsys.readouterr().err
        assert (home / "README.md").read_text() == "my own words"
        assert "src/nodewright_mine/expander.py" not in files(home)

    def test_a_place_that_is_not_there_is_named(self, tmp_path, capsys) -> None:
        new("hook", "mine", into=tmp_path / "nowhere", status=2)
        assert f"there is no folder {tmp_path / 'nowhere'}" in capsys.readouterr().err

    def test_a_place_that_can_not_be_written_is_named(self, tmp_path, capsys, monkeypatch) -> None:
        # Permissions would not stop a test that runs as root.
        def denied(folder: Path) -> None:
            raise PermissionError(13, "Permission denied", str(folder))

        monkeypatch.setattr(Path, "mkdir", denied)
        new("hook", "mine", into=tmp_path, status=1)
        assert f"{tmp_path / 'nodewright-mine'} can't be written: Permission denied" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("version", "versions"),
    [
        ("0.1.0", ">=0.1,<0.2"),
        ("0.9.3", ">=0.9,<0.10"),
        ("1.4.2", ">=1.4,<2"),
        ("0.2.0.dev1", ">=0.2.0.dev1,<0.3"),
        ("2.0rc1", ">=2.0rc1,<3"),
    ],
)
def test_the_range_ends_before_the_next_version_that_may_break_the_contract(version, versions) -> None:
    assert version_range(version) == versions
