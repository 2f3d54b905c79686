"""The Learn view as a Gradio component: its value is ui.learn.lesson.lesson()."""

import logging

import gradio as gr

from sbd_core.errors import TraceError
from sbd_core.replay import wire_json
from ui.components.assets import view
from ui.decode.form import DEFAULT_GAMMA
from ui.learn.lesson import lesson

logger = logging.getLogger(__name__)


def learn_view(*, prompt_id: str) -> gr.HTML:
    """The scenes beside Watch and Race. prompt_id: of the box that the last scene writes into."""
    return view("learn", setting(prompt_id))


def setting(prompt_id: str) -> str:
    """The view's value: the lesson inside, or a sentence on why there is none.

    gamma: what its last scene decodes with, by Set Block Decoding.
    """
    form = {"prompt_id": prompt_id, "gamma": DEFAULT_GAMMA}
    try:
        return wire_json({**form, "lesson": lesson()})
    except TraceError as error:
        logger.warning("no lesson: %s", error)
        return wire_json({**form, "problem": f"{error}."})
