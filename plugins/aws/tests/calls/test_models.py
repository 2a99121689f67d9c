"""The SDK knows what this plugin calls as it would with all its data, and little else."""

import pytest
from botocore.loaders import Loader
from botocore.model import ServiceModel
from botocore.regions import EndpointResolver
from nodewright_aws.calls.models import loader
from nodewright_aws.calls.rights import RIGHTS

SERVICES = sorted({service for service, _ in RIGHTS} - {"sts"})


@pytest.fixture(scope="module")
def whole():
    return Loader()


@pytest.fixture(scope="module")
def cut():
    return loader(None)


def model(data, service):
    return ServiceModel(data.load_service_model(service, "service-2"), service)


def written(shape, seen=()):
    """A shape with everything below it, as far as it is read."""
    if shape is None or shape.name in seen:
        return shape and shape.name
    seen = (*seen, shape.name)
    parts = {**getattr(shape, "members", {})}
    parts |= {each: getattr(shape, each) for each in ("member", "key", "value") if hasattr(shape, each)}
    below = {name: written(part, seen) for name, part in parts.items()}
    return shape.name, shape.type_name, shape.serialization, shape.metadata, below


@pytest.mark.parametrize("service", SERVICES)
def test_what_is_called_takes_and_answers_the_same(whole, cut, service) -> None:
    full, small = model(whole, service), model(cut, service)
    called = {operation.title().replace("_", "") for name, operation in RIGHTS if name == service}
    assert set(small.operation_names) == called
    assert small.metadata == full.metadata
    for name in called:
        theirs, ours = full.operation_model(name), small.operation_model(name)
        assert ours.http == theirs.http
        assert written(ours.input_shape) == written(theirs.input_shape)
        assert written(ours.output_shape) == written(theirs.output_shape)
        assert [each.name for each in ours.error_shapes] == [each.name for each in theirs.error_shapes]


def test_services_are_where_they_were(whole, cut) -> None:
    full, small = (EndpointResolver(each.load_data("endpoints")) for each in (whole, cut))
    for partition in full.get_available_partitions():
        for service in (*SERVICES, "api.pricing", "sts", "portal.sso", "oidc"):
            regions = full.get_available_endpoints(service, partition, allow_non_regional=True)
            assert small.get_available_endpoints(service, partition, allow_non_regional=True) == regions
            for region in regions:
                assert small.construct_endpoint(service, region) == full.construct_endpoint(service, region)


def test_what_the_sdk_calls_by_itself_is_left_whole(whole, cut) -> None:
    assert cut.load_service_model("sts", "service-2") == whole.load_service_model("sts", "service-2")


def test_models_of_the_user_come_first(cut, tmp_path) -> None:
    folder = tmp_path / "ec2" / "2016-11-15"
    folder.mkdir(parents=True)
    operation = '{"name": "DescribeImages", "input": {"shape": "A", "documentation": "long"}}'
    (folder / "service-2.json").write_text(
        f'{{"metadata": {{}}, "operations": {{"DescribeImages": {operation}, "RunInstances": {{}}}}, '
        '"shapes": {"A": {"type": "structure", "members": {"B": {"shape": "B"}}}, "B": {"type": "string"}, "C": {}}}'
    )
    assert loader(str(tmp_path)).load_service_model("ec2", "service-2") == {
        "metadata": {},
        "operations": {"DescribeImages": {"name": "DescribeImages", "input": {"shape": "A"}}},
        "shapes": {"A": {"type": "structure", "members": {"B": {"shape": "B"}}}, "B": {"type": "string"}},
    }


def test_little_is_left(cut) -> None:
    assert len(model(cut, "ec2").shape_names) < 500
    assert all(len(each["services"]) < 20 for each in cut.load_data("endpoints")["partitions"])
