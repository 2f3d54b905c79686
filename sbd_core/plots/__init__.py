"""Makes Plotly figures of a trace or of a sweep of solvers, as those of the page, for notebooks.

    from sbd_core import plots
    plots.entropy_heatmap(trace).show()

Every function takes theme="light" or "dark", and puts the figure's id in layout.meta["id"]. Plotly
must be installed: pip install "sbd-core[plots]".
"""

from sbd_core.errors import MissingExtraError

try:
    from sbd_core.plots.solver_curves import solvers
    from sbd_core.plots.trace_figures import entropy_heatmap, tokens_per_forward_pass
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] != "plotly":
        raise
    raise MissingExtraError("plots", "plotly") from None

__all__ = [
    "entropy_heatmap",
    "solvers",
    "tokens_per_forward_pass",
]
