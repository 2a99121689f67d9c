"""Declarations: what the class of a provider says about itself."""

import pytest

from nodewright.api import API_VERSION, Capability, Provider
from nodewright.testing.conformance.provider.base import ProviderSuite


class DeclarationConformance(ProviderSuite):
    """Class attributes that the core reads before anything else."""

    def test_capabilities_are_known_ones(self, newcomer: Provider) -> None:
        """`capabilities` is a set of `Capability`: anything else has no effect."""
        unknown = [each for each in newcomer.capabilities if not isinstance(each, Capability)]
        assert not unknown, f"capabilities holds {unknown}, which are none of {[str(each) for each in Capability]}"

    def test_the_contract_is_this_one(self, newcomer: Provider) -> None:
        """`api_version` is the one that the provider is tested with."""
        assert newcomer.api_version == API_VERSION, (
            f"the provider is written for version {newcomer.api_version} of the contract, this is {API_VERSION}"
        )

    def test_an_unknown_setting_is_a_mistake(self, newcomer: Provider) -> None:
        """`Config` refuses keys that it does not know, so that a typing error is found."""
        config = type(newcomer.config)
        if config.model_config.get("extra") != "forbid":
            pytest.fail(f"{config.__name__} takes settings that it does not know: leave extra='forbid' as it is")
