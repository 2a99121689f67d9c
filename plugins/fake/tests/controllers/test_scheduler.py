"""The scheduler binds what it can and tells the rest why they wait."""

GATED = {"schedulingGates": [{"name": "example.com/wait"}]}


def failures(cluster, name):
    events = cluster.store.list("events", "default")
    return [event for event in events if event["involvedObject"]["name"] == name]


def test_a_pod_is_bound_to_the_emptiest_node_and_then_to_the_first_by_name(cluster) -> None:
    for name in ("c", "b", "a"):
        cluster.boot(name)
    for name in ("p1", "p2", "p3", "p4"):
        cluster.pod(name, cpu="1")
        cluster.settle()
    assert [cluster.node_of(name) for name in ("p1", "p2", "p3", "p4")] == ["a", "b", "c", "a"]
    assert cluster.condition("pods", "p1", "PodScheduled")["status"] == "True"


def test_pods_that_ask_for_nothing_are_spread_too(cluster) -> None:
    cluster.boot("a")
    cluster.boot("b")
    for name in ("p1", "p2", "p3"):
        cluster.pod(name)
    cluster.settle()
    assert [cluster.node_of(name) for name in ("p1", "p2", "p3")] == ["a", "b", "a"]


def test_a_pod_that_looks_around_goes_to_the_emptiest_node_that_it_may(cluster) -> None:
    for name, cpu in (("a", "3"), ("b", "2"), ("c", "1")):
        cluster.boot(name)
        cluster.pod(f"on-{name}", cpu=cpu, labels={"on": name}, spec={"nodeName": name})
    cluster.settle()
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"on": "c"}}}
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    cluster.pod("p", spec={"affinity": affinity})
    cluster.settle()
    assert cluster.node_of("p") == "b"


def test_a_soft_taint_makes_a_node_the_last_choice(cluster) -> None:
    cluster.boot("a")
    cluster.boot("b")
    soft = {"key": "DeletionCandidateOfClusterAutoscaler", "effect": "PreferNoSchedule"}
    cluster.edit("nodes", "a", "", taints=[soft])
    for name in ("p1", "p2"):
        cluster.pod(name, cpu="2")
    cluster.pod("p3", cpu="2")
    cluster.settle()
    assert [cluster.node_of(name) for name in ("p1", "p2", "p3")] == ["b", "b", "a"]


def test_a_pod_that_fits_nowhere_is_told_once_with_the_number_of_nodes_by_reason(cluster) -> None:
    for name in ("a", "b"):
        cluster.boot(name, capacity={"cpu": 1000, "memory": 1024**3, "pods": 10})
    cluster.boot("c")
    cluster.edit("nodes", "c", "", unschedulable=True)
    cluster.pod("p", cpu="2", memory="1Gi")
    cluster.settle()
    assert cluster.why("p") == "0/3 nodes are available: 1 node(s) were unschedulable, 2 Insufficient cpu."
    condition = cluster.condition("pods", "p", "PodScheduled")
    assert (condition["status"], condition["reason"]) == ("False", "Unschedulable")
    (event,) = failures(cluster, "p")
    assert (event["type"], event["reason"], event["count"]) == ("Warning", "FailedScheduling", 1)
    assert event["message"] == cluster.why("p")
    assert event["source"] == {"component": "default-scheduler"}

    version = cluster.store.version
    cluster.advance(600)
    assert cluster.store.version == version


def test_without_nodes_the_message_says_so(cluster) -> None:
    cluster.pod("p")
    cluster.settle()
    assert cluster.why("p") == "no nodes available to schedule pods"


def test_a_new_reason_is_told_but_not_more_often_than_every_30_seconds(cluster) -> None:
    cluster.boot("a")
    cluster.pod("p", cpu="8")
    cluster.settle()
    cluster.boot("b")
    assert cluster.why("p") == "0/1 nodes are available: 1 Insufficient cpu."
    cluster.advance(30)
    cluster.boot("c")
    assert cluster.why("p") == "0/3 nodes are available: 3 Insufficient cpu."
    (event,) = failures(cluster, "p")
    assert (event["count"], event["message"]) == (2, cluster.why("p"))


def test_a_waiting_pod_is_placed_when_a_node_comes(cluster) -> None:
    cluster.pod("p")
    cluster.settle()
    cluster.boot("a", ready_after=20)
    cluster.advance(19)
    assert cluster.node_of("p") == ""
    cluster.advance(1)
    assert cluster.node_of("p") == "a"


def test_a_waiting_pod_is_placed_when_another_goes_or_ends(cluster) -> None:
    cluster.boot("a")
    cluster.pod("first", cpu="4")
    cluster.pod("second", cpu="4", annotations={"fake.nodewright.dev/run-seconds": "10"})
    cluster.advance(5)
    cluster.pod("third", cpu="4")
    cluster.store.delete("pods", "first", "default")
    cluster.advance(2)
    assert cluster.node_of("second") == "a"
    cluster.advance(20)
    assert cluster.node_of("third") == "a"


def test_a_leaving_pod_holds_its_place_until_it_is_gone(cluster) -> None:
    cluster.boot("a")
    cluster.pod("old", cpu="4", annotations={"fake.nodewright.dev/stop-seconds": "10"})
    cluster.advance(5)
    cluster.store.delete("pods", "old", "default")
    cluster.pod("new", cpu="4")
    cluster.advance(9)
    assert cluster.node_of("new") == ""
    cluster.advance(1)
    assert cluster.node_of("new") == "a"


def test_a_waiting_pod_is_placed_when_the_node_is_uncordoned_or_its_taint_goes(cluster) -> None:
    cluster.boot("a")
    cluster.edit("nodes", "a", "", unschedulable=True)
    cluster.pod("p")
    cluster.settle()
    assert cluster.node_of("p") == ""
    cluster.edit("nodes", "a", "", unschedulable=False)
    cluster.settle()
    assert cluster.node_of("p") == "a"


def test_the_more_important_pod_goes_first_and_then_the_older(cluster) -> None:
    cluster.pod("late", cpu="3", spec={"priority": 5})
    cluster.pod("important", cpu="3", spec={"priority": 10})
    cluster.pod("later", cpu="3", spec={"priority": 5})
    cluster.settle()
    cluster.boot("a")
    assert cluster.node_of("important") == "a"
    cluster.boot("b")
    assert cluster.node_of("late") == "b"
    assert cluster.node_of("later") == ""


def test_a_small_pod_is_not_held_up_by_a_large_one_before_it(cluster) -> None:
    cluster.boot("a")
    cluster.pod("large", cpu="8", spec={"priority": 10})
    cluster.pod("small", cpu="1")
    cluster.settle()
    assert (cluster.node_of("large"), cluster.node_of("small")) == ("", "a")


def test_gated_pods_wait_for_their_gates(cluster) -> None:
    cluster.boot("a")
    cluster.pod("p", spec=GATED)
    cluster.settle()
    condition = cluster.condition("pods", "p", "PodScheduled")
    assert (condition["status"], condition["reason"]) == ("False", "SchedulingGated")
    assert failures(cluster, "p") == []
    cluster.edit("pods", "p", schedulingGates=[])
    cluster.settle()
    assert cluster.node_of("p") == "a"


def test_pods_of_another_scheduler_are_left_alone(cluster) -> None:
    cluster.boot("a")
    cluster.pod("p", spec={"schedulerName": "mine"})
    cluster.settle()
    assert cluster.node_of("p") == ""
    assert "conditions" not in cluster.get_pod("p")["status"]


def test_a_pod_bound_by_somebody_else_takes_its_part_of_the_node(cluster) -> None:
    cluster.boot("a")
    cluster.pod("theirs", cpu="3", spec={"schedulerName": "mine", "nodeName": "a"})
    cluster.pod("ours", cpu="2")
    cluster.settle()
    assert cluster.why("ours") == "0/1 nodes are available: 1 Insufficient cpu."


def test_a_new_pod_of_the_same_name_is_told_too(cluster) -> None:
    cluster.pod("p")
    cluster.settle()
    cluster.store.delete("pods", "p", "default")
    cluster.pod("p")
    cluster.settle()
    assert cluster.why("p") == "no nodes available to schedule pods"


def test_a_pod_of_a_waiting_kind_is_told_when_it_comes_later(cluster) -> None:
    cluster.boot("a")
    cluster.pod("first", cpu="8")
    cluster.settle()
    cluster.pod("second", cpu="8")
    cluster.settle()
    assert cluster.why("second") == cluster.why("first")


def test_a_pod_that_wants_company_is_placed_when_the_company_is(cluster) -> None:
    cluster.boot("a")
    cluster.boot("b")
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "db"}}}
    affinity = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    cluster.pod("web", spec={"affinity": affinity, "priority": 10})
    cluster.settle()
    assert cluster.why("web") == "0/2 nodes are available: 2 node(s) didn't match pod affinity rules."
    cluster.pod("db", labels={"app": "db"})
    cluster.settle()
    assert cluster.node_of("web") == cluster.node_of("db") != ""


def test_a_pod_that_has_to_spread_is_placed_when_the_emptiest_zone_fills_up(cluster) -> None:
    cluster.boot("a", zone="a")
    cluster.boot("b", zone="b", capacity={"cpu": 1000, "memory": 1024**3, "pods": 10})
    constraint = {
        "topologyKey": "topology.kubernetes.io/zone",
        "maxSkew": 1,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
    cluster.pod("first", labels={"app": "web"}, spec={"nodeName": "a"})
    cluster.pod("spread", cpu="2", labels={"app": "web"}, spec={"topologySpreadConstraints": [constraint]})
    cluster.settle()
    assert cluster.why("spread") == (
        "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't match pod topology spread constraints."
    )
    cluster.pod("second", labels={"app": "web"}, spec={"nodeName": "b"})
    cluster.settle()
    assert cluster.node_of("spread") == "a"


def test_one_of_two_guards_that_goes_leaves_the_other_on_guard(cluster) -> None:
    for name in ("a", "b"):
        cluster.boot(name)
        term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "web"}}}
        affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
        cluster.pod(f"guard-{name}", spec={"affinity": affinity, "nodeName": name})
    cluster.settle()
    cluster.store.delete("pods", "guard-a", "default", grace_seconds=0)
    cluster.pod("one", labels={"app": "web"}, cpu="4")
    cluster.pod("two", labels={"app": "web"}, cpu="4")
    cluster.settle()
    assert (cluster.node_of("one"), cluster.node_of("two")) == ("a", "")
    assert cluster.why("two") == (
        "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't satisfy existing pods anti-affinity rules."
    )


def test_an_important_pod_overtakes_even_if_others_of_its_kind_came_before_it(cluster) -> None:
    cluster.boot("a")
    cluster.pod("same", cpu="3")
    cluster.pod("between", cpu="4", spec={"priority": 5})
    cluster.pod("important", cpu="3", spec={"priority": 10})
    cluster.settle()
    assert cluster.node_of("important") == "a"


def test_a_changed_label_lets_a_waiting_pod_go_where_it_was_unwelcome(cluster) -> None:
    cluster.boot("a")
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "web"}}}
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    cluster.pod("guard", spec={"affinity": affinity})
    cluster.pod("web", labels={"app": "web"})
    cluster.settle()
    assert cluster.node_of("web") == ""
    cluster.store.modify("pods", "web", "default", lambda pod: pod["metadata"].update(labels={"app": "other"}))
    cluster.settle()
    assert cluster.node_of("web") == "a"


def test_a_malformed_quantity_stops_nobody_else(cluster, caplog) -> None:
    cluster.boot("a")
    cluster.pod("bad", cpu="much")
    cluster.pod("good", cpu="1")
    cluster.settle()
    assert (cluster.node_of("bad"), cluster.node_of("good")) == ("", "a")
    assert "pod default/bad is left out: cpu: 'much' is not a quantity" in caplog.text


def test_heartbeats_of_nodes_wake_nobody(cluster) -> None:
    cluster.boot("a")
    cluster.pod("p", cpu="8")
    cluster.settle()
    cluster.store.modify("nodes", "a", "", lambda node: node["metadata"]["annotations"].update(seen="now"))
    version = cluster.store.version
    cluster.settle()
    assert cluster.store.version == version


def test_events_are_forgotten_an_hour_after_they_were_written_last(cluster) -> None:
    cluster.pod("once")
    cluster.pod("twice", cpu="8")
    cluster.settle()
    cluster.store.delete("pods", "once", "default")
    cluster.advance(1800)
    cluster.boot("a")
    cluster.advance(1800)
    assert [event["involvedObject"]["name"] for event in cluster.store.list("events")] == ["twice"]
    cluster.advance(1800)
    assert cluster.store.list("events") == []
