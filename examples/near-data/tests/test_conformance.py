import pytest
from nodewright.testing.conformance import ExpanderConformance
from nodewright_example_near_data.expander import NearData, NearDataConfig


class TestNearData(ExpanderConformance):
    @pytest.fixture
    def expander(self) -> NearData:
        return NearData(NearDataConfig.model_validate({"zones": ["eu-b"]}))
