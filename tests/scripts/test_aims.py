"""What the table of aims says is worked out from the results: met or missed, at which setting."""

import pytest

from sbd_core.plots.solver_curves import CurvePoint, curves
from scripts.tables import aims
from scripts.tables.results_files import results


def test_a_solver_that_comes_near_is_told_at_its_fastest_and_one_that_does_not_by_how_far() -> None:
    solver, points = next(iter(curves(results("sweep")["rows"]).items()))
    assert isinstance(points[0], CurvePoint)
    best = max(point.accuracy for point in points)
    fastest = max(point.speed for point in points)
    row = aims._of_solver(points, 0.0, solver, 0.01, fastest)
    assert row[2:] == (f"{fastest:.2f}x", True)
    assert aims._of_solver(points, 0.0, solver, 0.01, fastest + 1)[3] is False
    row = aims._of_solver(points, best + 0.05, solver, 0.01, 1.0)
    assert row[2:] == ("at no gamma; 5.0 points at best", False)


@pytest.mark.parametrize(("accuracy", "is_met"), [(0.96, True), (0.94, False)])
def test_an_aim_is_missed_below_its_number_alone(accuracy, is_met, monkeypatch) -> None:
    found = results("evaluation")
    found["rows"]["NTP"]["mean"]["accuracy"] = accuracy
    monkeypatch.setattr(
        aims, "results", lambda name: found if name == "evaluation" else results(name)
    )
    line = next(line for line in aims.aims().splitlines() if "mean of the tasks" in line)
    assert f"{100 * accuracy:.1f} %" in line
    assert ("missed" not in line) == is_met
