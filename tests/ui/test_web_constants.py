"""What Python and the page's JavaScript share is written from Python, and fresh."""

import json
from dataclasses import fields
from inspect import signature

from sbd_core.cli.decoding_flags import SOLVER_FLAGS
from sbd_core.rules import SOLVER_PARAMETERS
from scripts import web_constants
from ui.decode.form import LABELS, Form
from ui.endpoints import Endpoints
from ui.share.permalink import FIELDS


def test_the_committed_constants_are_what_python_says():
    assert json.loads(web_constants.FILE.read_text("utf-8")) == json.loads(
        json.dumps(web_constants.constants())
    )


def test_every_parameter_of_a_solver_is_known_wherever_one_is_set():
    places = {
        "the command line": SOLVER_FLAGS.values(),
        "the form": [item.name for item in fields(Form)],
        "the form's errors": LABELS,
        "the endpoint": signature(Endpoints.decode).parameters,
        "links": FIELDS.values(),
    }
    for name in SOLVER_PARAMETERS:
        assert [place for place, known in places.items() if name not in known] == [], name
