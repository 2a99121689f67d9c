"""Whether the core can trust the expander, as far as that is its own affair: the server chooses."""

import pytest
from nodewright.testing.conformance import ExpanderConformance
from nodewright_grpc.expander import Grpc


class TestGrpc(ExpanderConformance):
    @pytest.fixture
    def expander(self, serve):
        made = Grpc(Grpc.Config.model_validate({"url": serve().address, "insecure": True}))
        yield made
        made.close()
