"""The charts under the player: laid out, and drawn when the visitor opens them."""

import json
from typing import Any

import gradio as gr
from gradio.components.plot import PlotData

from sbd_core.errors import SetBlockDecodingError
from ui.components.assets import ASSETS, markup, scripts
from ui.components.outbox import parcel
from ui.session import message_of
from ui.sharing import QUICK, file_stem
from ui.visit import Visit

WIDE = (0, 4)


def charts_section(visit: gr.State) -> None:
    """A closed section for the run that the player shows; it follows the player while open."""
    words = json.loads((ASSETS / "charts.json").read_text(encoding="utf-8"))
    with gr.Column(elem_id="sbd-charts"):
        bar = gr.HTML(
            "",
            html_template=markup("charts"),
            js_on_load=scripts("dom", "scale", "charts"),
            apply_default_css=False,
        )
        with gr.Column(elem_id="sbd-charts-cards"):
            plots = [_card(index, row) for index, row in enumerate(words)]

    def drawn(kept: Visit, event: gr.EventData) -> tuple[Any, ...]:
        wish = event._data if isinstance(event._data, dict) else {}
        try:
            return parcel(run=wish.get("run")), *plots_of(kept, wish)
        except SetBlockDecodingError as error:
            return parcel(error=message_of(error)), *[gr.skip()] * len(plots)

    bar.draw_charts(drawn, visit, [bar, *plots], trigger_mode="always_last", **QUICK)


def plots_of(visit: Visit, wish: dict[str, Any]) -> list[PlotData]:
    """Every chart of the kept run that is wished for."""
    from ui.charts import (
        figures,
        look,
    )  # here: Plotly is slow to import, and many never open the charts

    trace = next(iter(visit.traces(wish.get("run")).values()))
    ink = look.DARK if wish.get("isDark") is True else look.LIGHT
    image = {"filename": file_stem(trace), "scale": 2}
    config = {
        "displaylogo": False,
        "displayModeBar": True,
        "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"],
        "toImageButtonOptions": image,
    }
    return [
        PlotData(type="plotly", plot=json.dumps(json.loads(figure.to_json()) | {"config": config}))
        for figure in figures.figures(trace, ink)
    ]


def _card(index: int, row: dict[str, str]) -> gr.Plot:
    classes = ["sbd-chart", "is-wide"] if index in WIDE else ["sbd-chart"]
    with gr.Column(elem_classes=classes):
        gr.Markdown(f"### {row['title']}\n\n{row['words']}", elem_classes="sbd-chart-words")
        return gr.Plot(show_label=False, container=False)
