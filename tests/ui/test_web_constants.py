"""What Python and the page's JavaScript share is written from Python, and fresh."""

from sbd_core.config import SOLVERS
from scripts import web_constants
from ui.components import controls


def test_the_committed_constants_are_what_python_says():
    assert web_constants.FILE.read_text("utf-8") == web_constants.text()


def test_the_form_offers_every_solver():
    assert [name for _, name in controls.SOLVERS] == list(SOLVERS)
