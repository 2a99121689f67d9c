"""Names that are hidden: equal for equal ones, in the same order, and of what has to stay as it is, as it is."""

from nodewright.scenario.names import CollectedNames, Pseudonyms, Role

ZONE = "topology.kubernetes.io/zone"


def hiding(*calls, public=()):
    """The pseudonyms after these calls, each a method's name and its arguments."""
    roll = CollectedNames()
    for method, *arguments in calls:
        getattr(roll, method)(*arguments)
    return Pseudonyms(roll, public=public)


def test_names_of_one_kind_keep_their_order() -> None:
    names = hiding(*(("of", Role.NODE, f"n{number}") for number in (3, 11, 1, 2)))
    hidden = {text: names.of(Role.NODE, text) for text in ("n1", "n11", "n2", "n3")}
    assert hidden == {"n1": "node-1", "n11": "node-2", "n2": "node-3", "n3": "node-4"}
    many = hiding(*(("of", Role.POD, f"{number:03}") for number in range(100)))
    assert sorted(many.of(Role.POD, f"{number:03}") for number in range(100)) == [
        f"pod-{number:03}" for number in range(1, 101)
    ]


def test_one_text_is_another_thing_in_another_place() -> None:
    names = hiding(("of", Role.POD, "web"), ("of", Role.OWNER, "web"), ("label", "app", "web"))
    assert [names.of(Role.POD, "web"), names.of(Role.OWNER, "web"), names.label("tier", "web")] == [
        "pod-1",
        "owner-1",
        "value-1",
    ]


def test_hostname_labels_are_nodes_and_volumes_of_several_zones_are_in_each() -> None:
    names = hiding(("of", Role.NODE, "n"), ("label", "kubernetes.io/hostname", "n"), ("label", ZONE, "a__b"))
    assert names.label("kubernetes.io/hostname", "n") == "node-1"
    assert names.label(ZONE, "a__b") == f"{names.label(ZONE, 'a')}__{names.label(ZONE, 'b')}"


def test_numbers_stay_where_they_are_compared_as_numbers() -> None:
    names = hiding(("note_number", "gen"), *(("label", key, value) for key in ("gen", "id") for value in ("7", "new")))
    assert (names.label("gen", "7"), names.label("gen", "new"), names.label("id", "7")) == ("7", "value-2", "value-1")


def test_what_rules_look_for_and_what_everybody_has_stays() -> None:
    names = hiding(
        ("of", Role.NAMESPACE, "kube-system"),
        ("of", Role.NAMESPACE, "shop"),
        ("label", "spot", "true"),
        ("label", "gpu", "t4"),
        public={"gpu"},
    )
    assert names.of(Role.NAMESPACE, "kube-system") == "kube-system"
    assert names.of(Role.NAMESPACE, "shop") == "namespace-2"
    assert (names.label("spot", "true"), names.label("gpu", "t4"), names.of(Role.NODE, "")) == ("true", "t4", "")


def test_a_claim_that_was_made_for_a_pod_is_named_after_it() -> None:
    names = hiding(
        ("of", Role.POD, "db-0"),
        ("of", Role.MOUNT, "scratch"),
        ("note_made_claim", "shop", "db-0", "scratch"),
        ("claim", "shop", "db-0-scratch"),
        ("claim", "other", "db-0-scratch"),
    )
    assert names.claim("shop", "db-0-scratch") == "pod-1-mount-1"
    assert names.claim("other", "db-0-scratch") == "claim-1"
