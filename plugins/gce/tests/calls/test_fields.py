"""What lists ask for."""

from nodewright_gce.calls.fields import fields_of
from nodewright_gce.resources.managed_instance import LastAttempt, MigError
from nodewright_gce.resources.mig import FlexibilityPolicy, Mig


def test_structs_are_asked_for_field_by_field_and_mappings_whole() -> None:
    asked = fields_of(Mig)

    assert "status(isStable,autoscaler,stateful)" in asked
    assert "versions(instanceTemplate,name,targetSize)" in asked
    assert fields_of(FlexibilityPolicy) == "instanceSelections"


def test_what_may_be_absent_is_asked_for_as_well() -> None:
    details = "errorDetails(errorInfo(reason,domain,metadatas),quotaInfo(metricName,limitName,limit,dimensions))"

    assert fields_of(LastAttempt) == f"errors(errors(code,message,location,{details}))"
    assert fields_of(MigError).startswith("error(code,message),")
