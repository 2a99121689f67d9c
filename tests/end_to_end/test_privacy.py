"""What is nobody's business is not read: no Secret ever, and no ConfigMap but our own."""

from tests.end_to_end.scenarios import a_group, a_scenario, two_choices

#: Ours: the status, what is remembered, and what the priority expander reads.
OWN = {"cluster-autoscaler-status", "nodewright-memory", "cluster-autoscaler-priority-expander"}


def asked_for(request):
    """Return the ConfigMap that a request is about; empty if it is about more than one."""
    if request.target.name or request.verb == "create":
        return request.target.name or "(new)"
    field, _, name = request.query.get("fieldSelector", "").partition("=")
    return name if field == "metadata.name" else ""


def test_secrets_and_foreign_config_maps_are_never_asked_for(begin) -> None:
    life = begin(a_scenario(*two_choices(), a_group("spare")), "scaleUp: {expanders: [priority]}")
    requests = []
    life.world.api_server.faults.append(requests.append)
    life.start_again()
    life.go_on(120)
    life.world.cluster.scale("default", "web", 1)
    life.go_on(900)
    assert life.ordered("first-choice") + life.ordered("fallback") + life.ordered("spare") > 0
    named = [request for request in requests if request.target is not None]
    assert {request.target.plural for request in named} >= {"pods", "nodes", "configmaps"}
    assert not [request.path for request in named if request.target.plural == "secrets"]
    foreign = [
        f"{request.verb} {request.path} {dict(request.query)}"
        for request in named
        if request.target.plural == "configmaps" and asked_for(request) not in OWN | {"(new)"}
    ]
    assert not foreign
