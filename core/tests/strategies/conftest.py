"""Expanders asked directly, with groups for an answer."""

import pytest
from nodewright.testing import an_expander_context


@pytest.fixture
def best():
    """Asks an expander for the best of some options; answers with the ids of their groups."""

    def ask(expander, *options, context=None, **config):
        asked = expander(expander.Config.model_validate(config))
        return [option.group.id for option in asked.best(options, context or an_expander_context())]

    return ask
