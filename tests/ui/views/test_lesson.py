"""The lesson: its words are short, and every number in them is counted from the recorded runs."""

import json
import re
from dataclasses import replace

import pytest

from sbd_core.errors import TraceError
from sbd_core.tasks.sudoku import UNITS
from ui import recordings
from ui.form.measured import EVALUATION
from ui.views import learn
from ui.views.learn import facts, machines, run_seconds, setting

IDEA_WORDS, RECAP_WORDS = 25, 55
NUM_SCENES = 10


@pytest.fixture
def kept():
    return recordings.learn_runs()


@pytest.fixture
def without_runs(monkeypatch, tmp_path):
    for function in (recordings.learn_runs, learn.scenes, learn.lesson):
        function.cache_clear()
    monkeypatch.setattr(recordings, "LEARN_INDEX", tmp_path / "index.json")
    yield
    monkeypatch.undo()
    recordings.learn_runs.cache_clear()


@pytest.mark.parametrize("has_model", [True, False])
def test_ten_scenes_of_an_idea_and_its_reason_each_with_an_address_of_its_own(has_model):
    scenes = learn.scenes(has_model=has_model)
    assert len(scenes) == len({scene["address"] for scene in scenes}) == NUM_SCENES
    for scene in scenes[:-1]:
        for name in ("answer", "why"):
            assert num_words(scene[name]) <= IDEA_WORDS, (scene["address"], name)
        assert re.fullmatch(r"[a-z-]+", scene["address"])


def test_the_last_scene_sums_up_in_three_sentences():
    recap = learn.scenes()[-1]["answer"]
    assert recap.count(". ") == 2
    assert num_words(recap) <= RECAP_WORDS


def num_words(text: str) -> int:
    return len(learn.plain(text).split())


def test_a_forward_pass_has_one_name():
    words = " ".join(learn.plain(text) for scene in learn.scenes() for text in scene.values())
    assert not re.search(r"\bcalls?\b", words)
    assert not re.search(r"[\[\]{}<>]", words)


def test_no_number_stands_typed_in_the_words():
    for row in json.loads(learn.WORDS.read_text("utf-8")):
        for text in row.values():
            assert not re.search(r"\d", re.sub(r"\{\w+\}", "", text)), row["address"]


def test_no_colour_is_called_dark_or_light_as_each_theme_has_its_own():
    said = " ".join(row["answer"] for row in learn.scenes())
    assert not re.search(r"\b(dark|light|pale|bright)\b", said)


def test_the_numbers_are_those_of_the_runs(kept):
    known, lanes = facts(kept), kept.runs["text"]
    assert known["tokens"] == known["ntp_passes"] == str(len(lanes["ntp"].token_ids))
    assert known["sbd_passes"] == str(len(lanes["sbd"].events))
    assert known["block"] == str(lanes["sbd"].config.block_size)
    assert known["clash"] in " ".join(kept.runs[first_broken(kept)]["sbd"].text.split())


def test_what_it_costs_in_accuracy_is_what_the_evaluation_says(kept):
    known, rows = facts(kept), json.loads(EVALUATION.read_text("utf-8"))["rows"]
    gamma = kept.runs["text"]["sbd"].config.solver.gamma
    for name, row in (("ntp", "NTP"), ("sbd", f"SBD gamma {gamma:g}"), ("verify", "verify")):
        part = float(known[f"{name}_accuracy"].removesuffix("\N{NO-BREAK SPACE}%"))
        assert part == pytest.approx(100 * rows[row]["mean"]["accuracy"], abs=0.05)
    assert known["sbd_accuracy"] != known["ntp_accuracy"]


def first_broken(kept) -> str:
    return f"edge-{[edge.is_right for edge in kept.choices.edges].index(False)}"


def test_the_story_is_right_up_to_a_gamma_and_wrong_beyond(kept):
    edges = kept.choices.edges
    assert [edge.gamma for edge in edges] == sorted({edge.gamma for edge in edges})
    verdicts = [edge.is_right for edge in edges]
    assert verdicts == sorted(verdicts, reverse=True)
    assert verdicts[0]
    assert not verdicts[-1]
    for number, edge in enumerate(edges):
        trace = kept.runs[f"edge-{number}"]["sbd"]
        passes = {item.position: event.index for event in trace.events for item in event.reveals}
        assert edge.is_right != bool(edge.clashes)
        assert edge.is_right != bool(edge.fault), "a story that broke says what the check found"
        for clash in edge.clashes:
            places = range(clash.start, clash.end)
            together = [at for at in places if passes.get(at) == clash.forward_pass]
            assert len(together) >= 2, "two tokens of a clash come from one forward pass"
    assert len({trace.prompt for trace in stories(kept)}) == 1


def stories(kept):
    return [kept.runs[f"edge-{at}"]["sbd"] for at in range(len(kept.choices.edges))]


def test_the_first_empty_cell_is_open_until_the_cells_that_settle_it_are_filled(kept):
    trace, order = kept.runs["sudoku"]["sbd"], kept.choices.order
    puzzle = trace.prompt[-16:]
    passes = {item.position: event.index for event in trace.events for item in event.reveals}
    assert puzzle.index("0") == order.cell
    assert order.candidates == "".join(
        digit
        for digit in "1234"
        if all(puzzle[at] != digit for unit in UNITS if order.cell in unit for at in unit)
    )
    for cell in order.settled_by:
        assert puzzle[cell] == "0"
        assert passes[cell] < passes[order.cell]
        assert any({cell, order.cell} <= set(unit) for unit in UNITS)
    left = set(order.candidates) - {trace.text[cell] for cell in order.settled_by}
    assert not order.settled_by or left == {trace.text[order.cell]}


def test_an_order_that_settles_nothing_is_not_said_to(monkeypatch, kept):
    plain = replace(kept.choices, order=replace(kept.choices.order, settled_by=()))
    monkeypatch.setattr(learn, "learn_runs", lambda: replace(kept, choices=plain))
    learn.scenes.cache_clear()
    scene = next(scene for scene in learn.scenes() if scene["address"] == "out-of-order")
    learn.scenes.cache_clear()
    assert "settled" not in scene["answer"]
    assert scene["answer"].endswith("with its help.")
    assert num_words(scene["answer"]) <= IDEA_WORDS


def test_the_draft_that_is_checked_is_kept_in_part(kept):
    trace, at = kept.runs["verify"]["verify"], kept.choices.check_pass
    draft, committed = trace.events[at - 1].draft, trace.events[at].committed
    assert draft[0] == committed[0]
    assert draft[: len(committed)] != committed
    assert kept.choices.is_verify_ntp, "verify is exact"


def test_both_gaps_offer_words_and_one_is_surer_and_none_gives_the_other_away():
    gaps = json.loads(learn.lesson())["gaps"]
    assert len(gaps[0]["before"]) < len(gaps[1]["before"])
    sure, unsure = sorted(gaps, key=lambda gap: gap["entropy"])
    assert sure["entropy"] < 0.5 < unsure["entropy"]
    for gap in (sure, unsure):
        assert gap["guesses"][0][0] in gap["options"]
        assert len(set(gap["options"])) == learn.NUM_OPTIONS


def test_the_block_of_masks_has_text_before_it_and_the_budget_something_to_drag_at(kept):
    trace = kept.runs["text"]["sbd"]
    block = trace.events[kept.choices.mask_pass]
    assert block.block.start > 0
    assert len(block.masked) == block.block.size
    assert len(trace.events[kept.choices.bound_pass].masked) > 2


def test_machines_count_rows_of_the_same_forward_passes(kept):
    measured, *computed = machines(kept)
    assert measured["is_measured"]
    assert measured["ntp"] == sum(event.seconds for event in kept.runs["text"]["ntp"].events)
    assert all(row["sbd"] < row["ntp"] for row in computed)
    assert [row["is_big"] for row in computed].count(True) == 1


def test_blocks_gain_less_the_less_memory_is_the_limit(kept):
    from sbd_core.roofline import DEVICES

    chip, lanes = DEVICES["h100-bf16"], kept.runs["text"]
    quick_memory = replace(chip, bandwidth=chip.bandwidth * 1000)

    def gain(device):
        return run_seconds(lanes["ntp"], device) / run_seconds(lanes["sbd"], device)

    assert gain(chip) > gain(quick_memory)


def test_what_the_check_of_a_story_quotes_is_found_in_it(kept):
    for edge, told in zip(kept.choices.edges, json.loads(learn.lesson())["edges"], strict=True):
        texts = [text for text, _ in told["tokens"]]
        quoted = re.search("“(.+)”", edge.fault)
        found = "".join(texts[at] for at in told["fault_tokens"])
        is_there = quoted is not None and quoted[1] in "".join(texts)
        assert (quoted is not None and quoted[1] in found) == is_there
    assert any(row["fault_tokens"] for row in json.loads(learn.lesson())["edges"])


def test_machines_of_one_name_are_one(kept):
    names = [row["name"] for row in machines(kept)]
    assert len(names) == len(set(names))
    assert names[0] == kept.choices.processor
    assert not re.search("SXM|bf16|fp16|FP8", " ".join(names))


def test_without_recorded_runs_the_view_says_what_writes_them(without_runs):
    with pytest.raises(TraceError, match=r"scripts\.record writes them"):
        recordings.learn_runs()
    said = json.loads(setting("box"))
    assert "lesson" not in said
    assert said["problem"].endswith("python -m scripts.record writes them.")


def test_export_without_runs_says_so_and_ends_with_2(without_runs, tmp_path, capsys):
    assert learn.main(["--out", str(tmp_path / "learn.html")]) == 2
    assert "scripts.record writes" in capsys.readouterr().err


def test_export_writes_one_file_that_asks_for_nothing(tmp_path, capsys):
    path = tmp_path / "learn.html"
    assert learn.main(["--out", str(path)]) == 0
    text = path.read_text("utf-8")
    assert "default-src 'none'" in text
    assert not re.search(r"(?:src|href)=[\"']?https?:", text.replace("https://arxiv.org", ""))
    assert "<!--LESSON-->" not in text
    assert "/*SCRIPTS*/" not in text
