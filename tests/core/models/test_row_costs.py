"""The cost of rows here: measured once, kept whole in the cache folder, recorded in the trace."""

import json
import math
from pathlib import Path
from types import SimpleNamespace

import pytest

from sbd_core import ArgumentError, DecodeConfig, Trace, TraceError, generate
from sbd_core.config import RowCosts
from sbd_core.models import row_costs
from sbd_core.models.protocol import ForwardRequest
from sbd_core.models.row_costs import measure_row_costs, row_costs_of
from tests.core.decoding.doubles import chance_model

FASTEST = DecodeConfig(strategy="verify", max_rows=None, max_new_tokens=12)


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """An empty cache folder, and a process that knows nothing."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(row_costs, "_known", {})
    monkeypatch.setattr(row_costs, "BUDGET_SECONDS", 0.05)
    monkeypatch.setattr(row_costs, "STEADY", math.inf)
    return tmp_path / "sbd_core"


def test_costs_are_interpolated_and_go_on_beyond_the_last_point() -> None:
    costs = RowCosts(((1, 2.0), (5, 4.0), (9, 4.0)))
    found = [costs.seconds(num_rows) for num_rows in (1, 2, 3, 5, 7, 9, 30)]
    assert found == [2.0, 2.5, 3.0, 4.0, 4.0, 4.0, 4.0]
    assert RowCosts(((1, 1.0), (2, 1.5))).seconds(48) == pytest.approx(24.5)
    assert RowCosts(((1, 3.0),)).seconds(48) == 3.0
    falling = RowCosts(((1, 1.0), (2, 0.5)))
    assert falling.seconds(48) > 0


@pytest.mark.parametrize(
    "points",
    [
        (),
        ((2, 1.0),),
        ((1, 0.0),),
        ((1, -1.0),),
        ((1, math.nan),),
        ((1, 1.0), (1, 2.0)),
        ((1, 1.0), (3, 2.0), (2, 2.0)),
        ((1, 1.0, 1.0),),
        ((1, "1"),),
        ((1, 1.0), (2.5, 2.0)),
    ],
)
def test_costs_that_are_none_are_refused(points) -> None:
    with pytest.raises(ArgumentError, match=r"^row_costs: "):
        RowCosts(points)
    with pytest.raises(ArgumentError, match=r"^row_costs: "):
        RowCosts.from_data([list(point) for point in points])


def test_a_model_is_measured_for_1_to_48_rows_and_its_caches_stay_its_own(llama) -> None:
    points = measure_row_costs(llama)[0].points
    assert [num_rows for num_rows, _ in points] == list(row_costs.NUM_ROWS)
    assert points[-1][1] > points[0][1] > 0
    short = chance_model(1)
    short.max_positions = 30
    assert measure_row_costs(short)[0].points[-1][0] == 24


def test_a_token_drafted_by_a_sampler_head_costs_what_the_head_takes(monkeypatch) -> None:
    """One token is drafted of 3 rows, 3 of 12, 4 of which are causal; a row alone drafts none."""
    clock = [0.0]

    def pass_time(seconds: float) -> float:
        clock[0] += seconds
        return clock[0]

    fake = SimpleNamespace(perf_counter=lambda: pass_time(1e-9))
    monkeypatch.setattr(row_costs, "time", fake)
    model = chance_model(1)
    walk = SimpleNamespace(add_to=lambda row, token_id: pass_time(0.002))
    model.sampler_head = SimpleNamespace(begin=lambda logits: walk)
    costs, is_steady = measure_row_costs(model)
    assert is_steady
    assert [round(costs.seconds(n), 6) for n in (1, 3, 12)] == [0, 0.002, 0.006]


@pytest.mark.parametrize(
    ("num_causal", "num_masks", "num_drafted"), [(1, 2, 1), (1, 3, 2), (2, 4, 3), (4, 8, 3)]
)
def test_a_pass_drafts_from_one_of_its_blocks(num_causal, num_masks, num_drafted) -> None:
    model, drafted = chance_model(1), []
    walk = SimpleNamespace(add_to=lambda row, token_id: drafted.append(token_id))
    model.sampler_head = SimpleNamespace(begin=lambda logits: walk)
    [cache] = model.new_caches(1)
    masks = [model.mask_token_id] * num_masks
    row_costs._seconds(model, ForwardRequest(cache, [3] * num_causal, masks, num_causal))
    assert len(drafted) == num_drafted


def test_they_are_measured_once_and_read_from_then_on(folder, monkeypatch) -> None:
    model = chance_model(1, agreement=0.7)
    first = generate(model, "abc", FASTEST)
    [file] = folder.iterdir()
    assert json.loads(file.read_text())["points"] == [list(p) for p in row_costs_of(model).points]
    monkeypatch.setattr(row_costs, "measure_row_costs", None)
    assert generate(model, "abc", FASTEST).config == first.config
    monkeypatch.setattr(row_costs, "_known", {})
    assert generate(model, "abc", FASTEST).config == first.config
    other = chance_model(2)
    with pytest.raises(TypeError):
        generate(other, "abc", FASTEST)  # of another name, so measured


def test_each_dtype_has_costs_of_its_own(folder) -> None:
    model = chance_model(1)
    for number, model.dtype in enumerate(("float32", "int8", "float32"), 1):
        row_costs_of(model)
        assert len(list(folder.iterdir())) == min(number, 2)


def test_costs_of_a_disturbed_measuring_are_not_kept_and_soon_measured_again(
    folder, monkeypatch, caplog
) -> None:
    model, found = chance_model(1), [RowCosts(((1, 2.0),)), RowCosts(((1, 1.0),))]
    told = iter([(found[0], False), (found[1], True)])
    monkeypatch.setattr(row_costs, "measure_row_costs", lambda model: next(told))
    now = [1000.0]
    monkeypatch.setattr(row_costs, "time", SimpleNamespace(monotonic=lambda: now[0]))
    assert [row_costs_of(model) for _ in range(2)] == [found[0]] * 2
    assert "disturbed" in caplog.text
    assert not folder.exists()
    now[0] += row_costs.AGAIN_SECONDS + 1
    assert [row_costs_of(model) for _ in range(2)] == [found[1]] * 2
    assert len(list(folder.iterdir())) == 1


def test_a_measuring_is_disturbed_where_equal_passes_took_unequal_times(monkeypatch) -> None:
    for times, is_steady in (([1.0, 1.0, 1.4, 1.4], True), ([1.0, 1.7, 1.7, 1.7], False)):
        own = iter(times * 99)
        monkeypatch.setattr(row_costs, "NUM_ROWS", (1,))
        monkeypatch.setattr(row_costs, "_seconds", lambda model, request, own=own: next(own))
        assert measure_row_costs(chance_model(1))[1] == is_steady


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", '{"points": []}', '{"points": [[1, -1]]}', '{"points": 3}', "\0"],
)
def test_a_damaged_file_is_measured_again(folder, monkeypatch, caplog, text) -> None:
    model = chance_model(1)
    row_costs_of(model)
    [file] = folder.iterdir()
    file.write_text(text)
    monkeypatch.setattr(row_costs, "_known", {})
    found = row_costs_of(model)
    assert "is measured again" in caplog.text
    assert RowCosts.from_data(json.loads(file.read_text())["points"]) == found
    assert list(folder.iterdir()) == [file], "nothing half written stays"


def test_a_folder_that_cannot_be_written_costs_a_line_in_the_log(folder, caplog) -> None:
    folder.write_text("a file where the folder should be")
    model = chance_model(1)
    assert row_costs_of(model) is row_costs_of(model)
    assert "cannot be kept" in caplog.text


def test_a_trace_says_by_which_costs_it_was_decoded(folder) -> None:
    trace = generate(chance_model(1, agreement=0.7), "abc", FASTEST)
    again = Trace.from_json(trace.to_json())
    assert again == trace
    assert again.config.row_costs == row_costs_of(chance_model(1))
    assert generate(chance_model(1, agreement=0.7), "abc", again.config).config == again.config
    data = json.loads(trace.to_json())
    for name, value in (("max_rows", "slow"), ("row_costs", [[1]]), ("row_costs", "x")):
        damaged = {**data, "config": {**data["config"], name: value}}
        with pytest.raises(TraceError, match=rf"^trace\.config\.{name}: "):
            Trace.from_json(json.dumps(damaged))
