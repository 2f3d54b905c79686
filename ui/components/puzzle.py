"""A small grid to type a sudoku into; what the page says to it becomes the prompt or a sentence."""

import json
import uuid

import gradio as gr

from ui.components.assets import view


def puzzle(prompt_id: str) -> gr.HTML:
    """Its event `solve` carries {"cells": text}; answer it with a value that `reply` makes.

    An accepted puzzle is written into the text box with the element id `prompt_id`.
    """
    return view("puzzle", json.dumps({"prompt_id": prompt_id}), "solve")


def reply(prompt_id: str, *, prompt: str = "", error: str = "") -> str:
    """The value that hands over a prompt, or says what was wrong; no two are equal."""
    body = {"prompt_id": prompt_id, "prompt": prompt, "error": error, "turn": uuid.uuid4().hex}
    return json.dumps(body).replace("<", "\\u003c")
