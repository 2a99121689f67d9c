"""``nodewright migrate``: what it reads, prints and ends with."""

import io
import json

import pytest
import yaml
from nodewright.cli.main import main

VALUES = "autoDiscovery: {clusterName: prod}\nimage: {tag: v1.32.1}\nextraArgs: {v: 4}\n"


@pytest.fixture
def migrate(tmp_path, capsys):
    """Runs the command on texts; returns the exit status and what it printed."""

    def run(*texts, words=()):
        files = []
        for number, text in enumerate(texts):
            files.append(tmp_path / f"{number}.yaml")
            files[-1].write_text(text)
        status = main(["migrate", *map(str, files), *words])
        return status, *capsys.readouterr()

    return run


def test_it_ends_with_0_if_all_is_carried_over_and_with_3_if_people_have_to_act(migrate) -> None:
    assert migrate(VALUES)[0] == 0
    assert migrate("cloudProvider: azure")[0] == 3


def test_the_report_says_what_to_do_and_what_comes_of_it(migrate) -> None:
    _, told, _ = migrate("cloudProvider: azure\nimage: {tag: v1.32.1}")
    titles = [line.split(":")[0].split(",")[0].split(" (")[0] for line in told.splitlines() if line[:2].isupper()]
    assert titles == ["BY HAND", "DIFFERS", "CHECK", "VALUES", "CONFIGURATION", "THEN"]
    assert "there is no plugin for azure yet" in told
    assert "helm upgrade cluster-autoscaler deploy/chart --namespace kube-system --values values.yaml" in told
    assert told.splitlines()[-1] == "1 to do by hand, named above."


def test_values_and_configuration_can_be_piped(migrate) -> None:
    _, values, told = migrate(VALUES, words=["-o", "values", "--image", "registry.example/nodewright:v9"])
    assert yaml.safe_load(values)["image"] == {"repository": "registry.example/nodewright", "tag": "v9"}
    assert "differs: image: v1.32.1 is left out: it is Cluster Autoscaler's" in told.splitlines()
    _, config, _ = migrate(VALUES, words=["-o", "config"])
    assert yaml.safe_load(config)["logging"] == {"verbosity": 4}


def test_json_and_yaml_have_everything(migrate) -> None:
    as_json = json.loads(migrate(VALUES, words=["-o", "json"])[1])
    assert as_json == yaml.safe_load(migrate(VALUES, words=["-o", "yaml"])[1])
    assert list(as_json) == [
        *("from", "release", "namespace", "complete", "notes", "values", "configuration", "steps"),
    ]
    assert as_json["notes"][1] == {
        "matter": "differs",
        "place": "image",
        "text": "v1.32.1 is left out: it is Cluster Autoscaler's",
    }


def test_later_files_are_laid_over_earlier_ones_as_helm_does(migrate) -> None:
    _, values, _ = migrate(VALUES, "extraArgs: {v: null, expander: random}\nawsRegion: a", words=["-o", "values"])
    assert yaml.safe_load(values)["extraArgs"] == {"expander": "random"}
    assert yaml.safe_load(values)["autoDiscovery"] == {"clusterName": "prod"}


def test_standard_input_is_read(migrate, monkeypatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(VALUES.encode())))
    status, values, _ = migrate(words=["-", "-o", "values"])
    assert status == 0
    assert "clusterName: prod" in values


@pytest.mark.parametrize("texts", [(), ("kind: Pod\napiVersion: v1",), ("a: [",)])
def test_it_ends_with_2_if_there_is_nothing_to_migrate(migrate, texts) -> None:
    status, printed, told = migrate(*texts)
    assert (status, printed) == (2, "")
    assert told


def test_texts_that_look_like_numbers_elsewhere_stay_texts(migrate) -> None:
    _, values, _ = migrate(
        "podAnnotations: {a: '1e3', b: 'yes', c: '0o17', d: '1.5', e: '12:30'}", words=["-o", "values"]
    )
    assert "'1e3'" in values
    assert "'0o17'" in values
    assert yaml.safe_load(values)["podAnnotations"] == {"a": "1e3", "b": "yes", "c": "0o17", "d": "1.5", "e": "12:30"}
