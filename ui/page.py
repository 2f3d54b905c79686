"""Lays out the page, and connects its views (ui.views) to the code that decodes (ui.decode)."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import gradio as gr
from starlette.middleware import Middleware

from sbd_core.errors import ArgumentError
from sbd_core.models.protocol import SetBlockModel
from sbd_core.replay import STYLES as REPLAY_STYLES
from sbd_core.solvers import SOLVER_PARAMETERS
from ui.components import ASSETS, DIST, STYLES, Speaker, saved_runs_flag, server_message, view
from ui.decode.fair_queue import MAX_PLACES
from ui.decode.form import Form, message_of, puzzle_prompt
from ui.decode.session import STOPPED_TEXT, Client, Session, Visit, timings
from ui.endpoints import add_endpoints
from ui.gradio_hooks import (
    HIDDEN,
    QUICK,
    ForgottenValues,
    KnownStreams,
    client_of,
    data_of,
    keep_direct_events_out_of_queue,
    let_uvicorn_trust_no_proxy,
    set_queue_poll_seconds,
)
from ui.middleware import Networks, PageMiddleware
from ui.models import LazyModel, Models
from ui.share.permalink import linked_run
from ui.views import controls
from ui.views.charts import charts_section
from ui.views.compare import compare_value, wire_compare
from ui.views.controls import Controls, prompt_message
from ui.views.head import Parts, footer, header, model_switch, untrained, wire_model_switch
from ui.views.learn import setting
from ui.views.recorded import gallery_value, home_value, opening, wire_sharing
from ui.views.roofline import roofline_section

PARAMETERS = ("solver", *SOLVER_PARAMETERS, "seed", "max_rows")
# ui.decode.fair_queue tells every visitor at once their place in line, or that the line is full.
# So Gradio's own queue must hold nobody back: its limits are above those of the line.
MAX_QUEUED = 512
MAX_THREADS = 96
MAX_SESSIONS = 200  # Gradio keeps a tenth of a megabyte of each, long after it is gone
# Only raw posts upload: the page itself takes no files.
MAX_UPLOAD = "1kb"
SECONDS_UPLOADS_STAY = 60
# Gradio's default, a thousand looks per second, takes a twentieth of a core from the engine.
SECONDS_BETWEEN_QUEUE_LOOKS = 0.005
RUN_QUEUE: dict[str, Any] = {"concurrency_id": "runs", "concurrency_limit": MAX_PLACES + 16}
# preprocess=False: a raw post gets our message for a bad value, as the form does.
# postprocess=False: our values need none, and each component's would take a thread.
RUN: dict[str, Any] = {
    "trigger_mode": "once",
    **RUN_QUEUE,
    "preprocess": False,
    "postprocess": False,
    **HIDDEN,
}


def build(model: SetBlockModel | LazyModel | Models, *, is_public: bool = False) -> gr.Blocks:
    """Build the page for its models, which may still be loading. Serve it with launch_options().

    is_public: whether strangers use the page; they get tighter limits and see no details of this
    machine.
    """
    models = Models.of(model)
    session = Session(models, is_public=is_public)
    first = models.first.name
    can_draft = any(offer.lazy.can_draft for offer in models)
    with gr.Blocks(
        analytics_enabled=False,
        title="Set Block Decoding",
        fill_width=True,
        delete_cache=(SECONDS_UPLOADS_STAY, SECONDS_UPLOADS_STAY),
    ) as page:
        title = header(page, models.first)
        switch = model_switch(models, may_manage=session.limits.may_fetch_model)
        strip = untrained(models, may_name_folder=not is_public)
        view("home", home_value())
        view("learn", setting())
        with gr.Row(elem_id="sbd-watch", elem_classes="is-folded", equal_height=False):
            with gr.Column(elem_id="sbd-controls", min_width=260, scale=0):
                form = controls.build(models, session.limits)
            with gr.Column(elem_id="sbd-show", min_width=300, scale=1):
                show = player(first)
                value = compare_value(first, can_draft=can_draft)
                lanes = view("compare", value, "start", "halt")
        visit = gr.State(Visit())
        client_from = partial(client_of, page)
        # First, so that no later handler takes their names.
        add_endpoints(session, client_from, RUN_QUEUE)
        linked = _wire(page, session, form, show, lanes, visit)
        _wire_form(form)
        if switch is not None:
            wire_model_switch(page, models, Parts(switch, title, form, strip), session.limits)
        engine_value = partial(controls.engine_value, models.first, session.limits)
        page.load(engine_value, None, form.engine, **QUICK)  # an export may have been made since
        wire_compare(session, lanes, RUN, linked, client_from)
        charts_section()
        roofline_section(may_name_folder=not is_public)
        messages = view("server-messages", "")  # its values are made by server_message
        choosers = (view("gallery", gallery_value(), "choose_run"), form.presets)
        footer()
        wire_sharing(show, choosers, messages, form.status, form.fields)
        _wire_timing(session, show, messages, client_from)
    page.queue(max_size=MAX_QUEUED, api_open=False)  # a direct post would bypass the line
    set_queue_poll_seconds(page, SECONDS_BETWEEN_QUEUE_LOOKS)
    keep_direct_events_out_of_queue(page)
    let_uvicorn_trust_no_proxy()
    return page


def player(model: str) -> gr.HTML:
    """Make the player, which opens with the opening run of `model`.

    The player triggers three events: `redo` and `time` carry the settings of a decode that is to be
    run or to be timed, and `give` carries a trace that is to be shown.
    """
    styles = [ASSETS / "css" / f"{style}.css" for style in REPLAY_STYLES]
    # Files of which its script makes a replay page.
    gr.set_static_paths([ASSETS / "html" / "replay.html", DIST / "replay.js", *styles])
    return view("player", opening(model), "redo", "give", "time")


def launch_options(trusted_proxies: Networks = (), *, is_local: bool = False) -> dict[str, Any]:
    """Arguments of Gradio's launch() that are needed wherever the page is served.

    trusted_proxies, is_local: see PageMiddleware.
    """
    return {
        "theme": theme(),
        "css_paths": list(STYLES),
        "run_history": False,
        "enable_monitoring": False,
        "footer_links": [],
        "ssr_mode": False,
        "max_threads": MAX_THREADS,
        "max_file_size": MAX_UPLOAD,
        "state_session_capacity": MAX_SESSIONS,
        "app_kwargs": {
            "middleware": [
                Middleware(ForgottenValues),
                Middleware(KnownStreams),
                Middleware(PageMiddleware, trusted=trusted_proxies, is_local=is_local),
            ]
        },
    }


def theme() -> gr.themes.Base:
    """Make a Gradio theme with system fonts; the page's own style sheets set all colours."""
    sans = ["ui-sans-serif", "system-ui", "sans-serif"]
    mono = ["ui-monospace", "monospace"]
    return gr.themes.Base(font=sans, font_mono=mono, primary_hue="blue", neutral_hue="stone")


def _wire(
    page: gr.Blocks,
    session: Session,
    form: Controls,
    show: gr.HTML,
    lanes: gr.HTML,
    visit: gr.State,
) -> Any:
    """Connect form, player and Compare view to the session; return the page's load event."""
    fields = form.fields
    outputs = [show, form.status, form.decode, form.stop]

    client_from = partial(client_of, page)
    shown = partial(_shown, session, form)

    def decode(request: gr.Request, visit: Visit, sent: Any) -> Iterator[tuple[Any, ...]]:
        form = Form.of(sent)
        if not session.models.offer(session.models.known(form.model)).is_chat:
            form = replace(form, system="")  # its box is not shown
        yield from shown(visit, form, client_from(request))

    def redo(request: gr.Request, visit: Visit, event: gr.EventData) -> Iterator[tuple[Any, ...]]:
        form = session.with_known_model(Form.of(data_of(event)))
        yield from shown(visit, form, client_from(request))

    def stopped(visit: Visit) -> tuple[Any, ...]:
        visit.stop()  # cancelling alone frees the model only at the next yield
        return ("stop", Speaker().say(STOPPED_TEXT), *_buttons(is_running=False))

    opened = linked_run(session, shown, client_from, list(fields))
    shown_first = [*outputs, lanes, *fields.values()]
    # In place of the status line, the script sends whether the tab has saved the runs.
    linked = page.load(opened, [visit, form.status], shown_first, js=saved_runs_flag(), **RUN)
    triggers = [form.decode.click, fields["prompt"].submit]  # type: ignore[attr-defined]
    # One input for all fields: Gradio copies all properties of each input at every streamed value.
    sent = gr.JSON(visible=False)
    gather = (
        f"(...values) => Object.fromEntries({json.dumps(list(fields))}"
        ".map((name, index) => [name, values[index]]))"
    )
    gathered = gr.on(triggers, None, list(fields.values()), sent, js=gather, **HIDDEN)
    running = [
        gathered.then(decode, [visit, sent], outputs, **RUN),
        show.redo(redo, visit, outputs, **RUN),
        linked,
    ]
    form.stop.click(stopped, visit, outputs, cancels=running, queue=False, **HIDDEN)
    return linked


def _shown(
    session: Session, form: Controls, visit: Visit, asked: Form, client: Client
) -> Iterator[tuple[Any, ...]]:
    """Decode the form `asked`; yield values of the player, the status line, Decode and Stop."""
    speaker = Speaker()
    is_running, message, status, wire = False, None, "", ""
    try:
        for update in session.decode(asked, visit, client):
            # Repeating a value costs Gradio far less than gr.skip().
            buttons: tuple[Any, Any] = (form.decode.value, form.stop.value)
            # The buttons are those of all decodes: another may still run when this one ends.
            is_any_running = visit.is_decoding(speaker, is_running=update.is_running)
            if is_any_running != is_running:
                is_running = is_any_running
                buttons = _buttons(is_running=is_running)
            if update.message != message:
                message = update.message
                status = speaker.say(message, is_error=update.is_error, num_ahead=update.num_ahead)
            wire = update.wire or wire
            yield (wire, status, *buttons)
    finally:
        visit.is_decoding(speaker, is_running=False)


def _wire_form(form: Controls) -> None:
    """Let strategy and solver show or hide settings; let puzzle and slider fill in other fields."""
    fields = form.fields
    form.puzzle.solve(_own_puzzle, None, form.puzzle, **QUICK)
    parameters = [fields[name] for name in PARAMETERS]
    choice = [fields["strategy"], fields["solver"]]
    gr.on(
        [field.change for field in choice],  # type: ignore[attr-defined]
        _parameters_of, choice, parameters, queue=False, **HIDDEN,
    )  # fmt: skip
    set_by_slider = [*choice, fields["gamma"]]
    form.ways.choose(None, None, set_by_slider, js=controls.CHOICE_SCRIPT, **HIDDEN)


def _wire_timing(
    session: Session,
    show: gr.HTML,
    messages: gr.HTML,
    client_from: Callable[[gr.Request], Client],
) -> None:
    """Let the player ask the server to time a decode several times."""

    def timed(request: gr.Request, event: gr.EventData) -> Iterator[str]:
        form = session.with_known_model(Form.of(data_of(event)))
        for news in timings(session, form, client_from(request)):
            yield server_message(timing=news)

    show.time(timed, None, messages, **RUN)


def _own_puzzle(event: gr.EventData) -> str:
    try:
        return prompt_message(prompt=puzzle_prompt(data_of(event).get("cells")))
    except ArgumentError as error:
        return prompt_message(error=message_of(error))


def _buttons(*, is_running: bool) -> tuple[Any, Any]:
    return gr.update(interactive=not is_running), gr.update(interactive=is_running)


def _parameters_of(strategy: str, solver: str) -> list[Any]:
    """Make updates that show the settings in use by strategy and solver, and hide the others."""
    return [_parameter_of(strategy, solver, name) for name in PARAMETERS]


def _parameter_of(strategy: str, solver: str, name: str) -> Any:
    is_shown = controls.is_in_use(strategy, solver, name)
    if name != "gamma":
        return gr.update(visible=is_shown)
    return gr.update(visible=is_shown, info=controls.gamma_words(solver))
