"""Jobs run pods to their end."""

import pytest


def ends(seconds=10, code=0):
    annotations = {"fake.nodewright.dev/run-seconds": str(seconds), "fake.nodewright.dev/exit-code": str(code)}
    return {"annotations": annotations, "restartPolicy": "Never"}


def status(cluster, *fields):
    found = cluster.store.get("jobs.batch", "work", "default")["status"]
    return tuple(found[name] for name in fields)


def phases(cluster):
    return sorted(pod["status"]["phase"] for pod in cluster.pods("work"))


def test_as_many_run_at_once_as_it_says_until_enough_have_succeeded(cluster) -> None:
    cluster.boot("a")
    cluster.workload("Job", "work", template=ends(10), parallelism=2, completions=3)
    cluster.advance(5)
    assert phases(cluster) == ["Running", "Running"]
    assert status(cluster, "active", "ready", "succeeded") == (2, 2, 0)
    cluster.advance(7)
    assert phases(cluster) == ["Running", "Succeeded", "Succeeded"]
    cluster.advance(15)
    assert status(cluster, "active", "succeeded", "failed") == (0, 3, 0)
    assert cluster.condition("jobs.batch", "work", "Complete")["status"] == "True"
    assert status(cluster, "startTime", "completionTime") == ("2030-01-01T00:00:00Z", "2030-01-01T00:00:22Z")


def test_a_failed_pod_is_tried_again_after_a_pause_that_grows(cluster) -> None:
    cluster.boot("a")
    cluster.workload("Job", "work", template=ends(1, code=1), parallelism=1, completions=1)
    cluster.advance(2)
    assert phases(cluster) == ["Failed"]
    cluster.advance(9)
    assert phases(cluster) == ["Failed"]
    cluster.advance(1)
    assert phases(cluster) == ["Failed", "Pending"]
    cluster.advance(2)
    cluster.advance(19)
    assert phases(cluster) == ["Failed", "Failed"]
    cluster.advance(1)
    assert phases(cluster) == ["Failed", "Failed", "Pending"]


def test_a_job_fails_when_its_pods_failed_too_often(cluster) -> None:
    cluster.boot("a")
    cluster.workload("Job", "work", template=ends(1, code=1), parallelism=1, completions=1, backoffLimit=1)
    cluster.advance(120)
    condition = cluster.condition("jobs.batch", "work", "Failed")
    assert (condition["status"], condition["reason"]) == ("True", "BackoffLimitExceeded")
    assert status(cluster, "active", "failed") == (0, 2)
    assert phases(cluster) == ["Failed", "Failed"]


def test_an_evicted_pod_comes_back(cluster) -> None:
    cluster.boot("a")
    cluster.workload("Job", "work", template=ends(60), parallelism=1, completions=1)
    cluster.advance(5)
    (pod,) = cluster.pods("work")
    cluster.store.delete("pods", pod["metadata"]["name"], "default")
    cluster.advance(15)
    assert phases(cluster) == ["Running"]
    assert status(cluster, "active", "failed") == (1, 1)


def test_pods_that_succeeded_still_count_when_their_node_is_gone(cluster) -> None:
    cluster.boot("a")
    cluster.workload("Job", "work", template=ends(10), parallelism=1, completions=2)
    cluster.advance(12)
    cluster.kubelets.shut_down("a")
    cluster.boot("b")
    cluster.advance(60)
    assert status(cluster, "succeeded") == (2,)
    assert len(cluster.pods("work")) == 1


def test_an_indexed_job_runs_every_index_once(cluster) -> None:
    cluster.boot("a")
    cluster.workload("Job", "work", template=ends(10), parallelism=2, completions=3, completionMode="Indexed")
    cluster.advance(60)
    index = "batch.kubernetes.io/job-completion-index"
    assert sorted(pod["metadata"]["annotations"][index] for pod in cluster.pods("work")) == ["0", "1", "2"]
    assert status(cluster, "completedIndexes") == ("0,1,2",)


def test_a_work_queue_ends_when_one_succeeded_and_the_rest_are_done(cluster) -> None:
    cluster.boot("a")
    cluster.workload("Job", "work", template=ends(10), parallelism=3)
    cluster.advance(30)
    assert status(cluster, "succeeded") == (3,)
    assert cluster.condition("jobs.batch", "work", "Complete")["status"] == "True"


def test_a_suspended_job_runs_nothing_and_counts_no_failures(cluster) -> None:
    cluster.boot("a")
    cluster.workload("Job", "work", template=ends(10), parallelism=2, completions=2)
    cluster.advance(5)
    cluster.edit("jobs.batch", "work", suspend=True)
    cluster.advance(5)
    assert cluster.pods("work") == []
    assert cluster.condition("jobs.batch", "work", "Suspended")["status"] == "True"
    cluster.edit("jobs.batch", "work", suspend=False)
    cluster.advance(20)
    assert status(cluster, "succeeded", "failed") == (2, 0)
    assert cluster.condition("jobs.batch", "work", "Suspended")["status"] == "False"


@pytest.mark.parametrize("gone", [59, 60])
def test_a_job_is_deleted_with_its_pods_some_time_after_its_end(cluster, gone) -> None:
    cluster.boot("a")
    cluster.workload("Job", "work", template=ends(9), parallelism=1, completions=1, ttlSecondsAfterFinished=50)
    cluster.advance(gone)
    assert (cluster.store.find("jobs.batch", "work", "default") is None) == (gone == 60)
    assert (cluster.store.list("pods") == []) == (gone == 60)


def test_a_job_that_takes_too_long_fails(cluster) -> None:
    cluster.boot("a")
    cluster.workload("Job", "work", template=ends(600), parallelism=1, completions=1, activeDeadlineSeconds=30)
    cluster.advance(29)
    assert phases(cluster) == ["Running"]
    cluster.advance(2)
    assert cluster.condition("jobs.batch", "work", "Failed")["reason"] == "DeadlineExceeded"
    assert cluster.pods("work") == []


def test_lower_parallelism_stops_pods_without_failing_the_job(cluster) -> None:
    cluster.boot("a")
    cluster.workload("Job", "work", template=ends(60), parallelism=3, completions=3, backoffLimit=0)
    cluster.advance(5)
    cluster.edit("jobs.batch", "work", parallelism=1)
    cluster.advance(5)
    assert phases(cluster) == ["Running"]
    assert status(cluster, "failed") == (0,)
