"""A race that has been run."""

import pytest

from tests.browser.race.acts import enter, run


@pytest.fixture
def raced(story):
    enter(story)
    run(story)
    return story
