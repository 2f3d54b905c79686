"""What Python and the page's JavaScript share is written from Python, and fresh."""

from scripts import web_constants


def test_the_committed_constants_are_what_python_says():
    assert web_constants.FILE.read_text("utf-8") == web_constants.text()
