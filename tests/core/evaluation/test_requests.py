"""evaluate --requests: every way to answer, loops counted apart, the checks of IFEval."""

import json
import random
from dataclasses import replace

import pytest

from sbd_core import ArgumentError, DecodeConfig, generate, load
from sbd_core.__main__ import main
from sbd_core.errors import EXTRAS, MissingExtraError
from sbd_core.evaluation import Answer, Harness
from sbd_core.evaluation.requests import (
    FIGURES,
    GAMMAS,
    NTP,
    SOLVERS_WITH_GAMMA,
    check_of,
    choose_gammas,
    gamma_configs,
    request_configs,
    score_answers,
)
from sbd_core.files import ASSETS
from sbd_core.training.train_adapter import is_held_out
from scripts import write_tables
from tests.core.cli.commands import last_line, refusal
from tests.scripted import ScriptedModel

MASK, END = 0, 1
TEXTS = ("<m>", "<eos>", "la ", "b ", "c ", "?", "!")


def singer() -> ScriptedModel:
    """Answers "?" with "b c b c" and every other prompt with "la la la ..." without end."""

    def token_after(tokens: tuple[int, ...]) -> int:
        if TEXTS[tokens[0]] != "?":
            return 2
        return END if len(tokens) == 5 else 3 + (len(tokens) + 1) % 2

    def row(token_id: int) -> list[float]:
        return [9.0 if index == token_id else 0.0 for index in range(len(TEXTS))]

    def block_logits(tokens: tuple[int, ...], block: tuple[int, ...]) -> list[list[float]]:
        rows, text = [], list(tokens)
        for _ in block:
            text.append(token_after(tuple(text)))
            rows.append(row(text[-1]))
        return rows

    def next_logits(tokens: tuple[int, ...]) -> list[float]:
        return row(token_after(tokens))

    return ScriptedModel(texts=TEXTS, next_logits=next_logits, block_logits=block_logits)


def answered(model, requests, configs):
    settings = {name: (model, config) for name, config in configs.items()}
    return Harness().answers(settings, {"asked": requests})["asked"]


def test_loops_are_counted_and_left_out_of_every_other_figure() -> None:
    configs = request_configs(DecodeConfig(max_new_tokens=40, block_size=4))
    scores = score_answers(answered(singer(), ["?", "!", "?"], configs))
    assert [score["row"] for score in scores] == list(configs)
    for each in scores:
        assert (each["num_answers"], each["num_loops"], each["num_tokens"]) == (2, 1, 10)
        assert each["tokens_per_forward"] == 10 / each["num_forwards"]
        assert each["same_as_ntp"] == each["agreement"] == 1
    passes = {score["row"]: score["num_forwards"] for score in scores}
    assert passes[NTP] == 10
    assert passes["verify"] == 2 * 2  # one token and a draft of three, then a check that adds one


def test_answers_that_follow_instructions_are_counted_beside_those_of_ntp() -> None:
    base = DecodeConfig(max_new_tokens=8, block_size=4)
    configs = {NTP: base, "cut": replace(base, max_new_tokens=2)}
    configs = {row: replace(config, strategy="ntp") for row, config in configs.items()}
    [alone] = score_answers(answered(singer(), ["?"], {NTP: configs[NTP]}))
    assert alone["accuracy"] is alone["difference"] is None
    checks = [None, lambda text: "b" in text, lambda text: "c b c" in text]
    ntp, cut = score_answers(answered(singer(), ["?", "?", "?"], configs), checks)
    assert [ntp[name] for name in FIGURES] == [1, 0, 0]
    # Differences of 0 and -1: their deviation is sqrt(1/2), that of their mean 1/2.
    assert [cut[name] for name in FIGURES] == pytest.approx([0.5, -0.5, 1.96 / 2])


def test_the_gamma_chosen_is_the_fastest_of_those_that_keep_the_answer() -> None:
    """More tokens come at once at the larger gammas, and too many are wrong at the largest."""

    def answer(num_agreed: int, num_forwards: int) -> Answer:
        return Answer("b c", [3] * 100, num_forwards, 1.0, 100, num_agreed)

    def answers(*figures: tuple[int, int]) -> dict[str, list[Answer]]:
        pairs = zip(gamma_configs(DecodeConfig()), figures, strict=True)
        return {row: [answer(*each)] for row, each in pairs}

    found = answers(
        *[(99, 90), (97, 70), (90, 50), (89, 45), (89, 42), (89, 40)] * len(SOLVERS_WITH_GAMMA)
    )
    assert choose_gammas(found) == dict.fromkeys(SOLVERS_WITH_GAMMA, GAMMAS[2])
    found = answers(*[(85, 50)] * len(GAMMAS) * len(SOLVERS_WITH_GAMMA))
    assert choose_gammas(found) == dict.fromkeys(SOLVERS_WITH_GAMMA, min(GAMMAS))


@pytest.mark.parametrize("name", ["own", "structured"])
def test_no_training_text_holds_a_request_that_is_measured_on(name) -> None:
    lines = (ASSETS / "requests" / f"{name}.jsonl").read_text("utf-8").splitlines()
    prompts = [json.loads(line)["prompt"] for line in lines]
    assert len(set(prompts)) == len(prompts) > 0
    assert [prompt for prompt in prompts if not is_held_out(prompt)] == []


def test_the_command_answers_the_first_requests_of_each_file(
    tiny_folders, tmp_path, capsys, monkeypatch
) -> None:
    file, other, out = (tmp_path / name for name in ("asked.jsonl", "more.jsonl", "scores.json"))
    file.write_text("".join(json.dumps({"prompt": text}) + "\n" for text in ("a b", "c", "d")))
    other.write_text(json.dumps({"prompt": "e f"}) + "\n")
    words = ["evaluate", "--requests", str(file), str(other), "--limit", "2"]
    words += ["--gammas-on", str(other), "--max-new-tokens", "6", "--block-size", "4"]
    words += ["--model", str(tiny_folders["llama"]), "--device", "cpu"]
    assert main([*words, "--json", "--out", str(out)]) == 0
    found = last_line(capsys)
    assert found == json.loads(out.read_text("utf-8"))
    answers = tmp_path / "scores.answers.jsonl"
    assert sorted(tmp_path.iterdir()) == sorted((file, other, out, answers))
    kept = [json.loads(line) for line in answers.read_text("utf-8").splitlines()[1:]]
    assert len(kept) == len(SOLVERS_WITH_GAMMA) * len(GAMMAS) + 3 * (2 + len(SOLVERS_WITH_GAMMA))
    config = DecodeConfig(strategy="ntp", max_new_tokens=6)
    text = generate(load(tiny_folders["llama"], device="cpu"), "c", config).text
    [second] = [
        line
        for line in kept
        if (line["task"], line["number"], line["settings"]) == ("asked", 1, NTP)
    ]
    assert second["text"] == text
    assert list(found["requests"]) == ["asked", "more"]
    assert (found["gammas_on"], list(found["gammas"])) == ("more", list(SOLVERS_WITH_GAMMA))
    assert len(found["gammas_tried"]) == len(SOLVERS_WITH_GAMMA) * len(GAMMAS)
    assert list(found["weights"]) == [found["model"]]
    for name, count in (("asked", 2), ("more", 1)):
        rows = {row["row"]: row for row in found["requests"][name]}
        assert len(rows) == 2 + len(SOLVERS_WITH_GAMMA)
        for row in rows.values():
            assert row["num_answers"] + row["num_loops"] == count
        for exact in (NTP, "verify"):
            assert rows[exact]["same_as_ntp"] == rows[exact]["agreement"] == 1
    monkeypatch.setattr(write_tables, "results", {"requests": found}.__getitem__)
    head, _, *rows, _, words = write_tables.requests().splitlines()
    assert [row.split("**")[1] for row in rows] == [row["row"] for row in found["requests"]["more"]]
    assert head.count("tokens a pass") == 2
    assert words.startswith("2 of asked, 1 of more; answers of at most 6 tokens")
    assert "Each γ was chosen beforehand on more:" in words


def test_bad_requests_are_refused_by_name(tmp_path, capsys) -> None:
    fine = tmp_path / "fine.jsonl"
    fine.write_text('{"prompt": "a"}\n')
    for words, argument in (
        (["--requests", str(tmp_path / "none.jsonl")], "requests"),
        (["--requests", __file__], "requests"),
        (["--requests", __file__, "--limit", "0"], "limit"),
        (["--requests", str(fine), str(fine)], "requests"),
        (["--requests", str(fine), "--gammas-on", __file__], "gammas-on"),
        (["--gammas-on", str(fine)], "gammas-on"),
    ):
        assert refusal(capsys, ["evaluate", *words]).startswith(f"{argument}: ")
    with pytest.raises(ArgumentError, match=r"^configs: must have the row NTP"):
        score_answers({"sbd": []})


ROW = {
    "prompt": "Answer in two sentences without a comma.",
    "instruction_id_list": ["punctuation:no_comma", "length_constraints:number_sentences"],
    "kwargs": [{}, {"relation": "at least", "num_sentences": 2, "num_words": None}],
}


def test_instructions_are_checked_without_a_download() -> None:
    pytest.importorskip("lm_eval", reason='needs pip install "sbd-core[lm-eval]"')
    check = check_of(ROW)
    assert check is not None
    assert check("This is one. That is two.")
    assert not check("This is one, and it is all.")
    assert not check("Only one.")
    assert not check(" ")
    assert check_of({"prompt": "p"}) is None
    with pytest.raises(ArgumentError, match="must be IFEval's, one mapping per instruction"):
        check_of({**ROW, "kwargs": [{}]})
    with pytest.raises(ArgumentError, match="must be IFEval's"):
        check_of({**ROW, "instruction_id_list": ["made:up", "made:up"]})


def test_a_verdict_is_the_same_each_time_and_letters_are_those_given() -> None:
    pytest.importorskip("lm_eval", reason='needs pip install "sbd-core[lm-eval]"')

    def verdicts(name: str, given: dict[str, object], answer: str) -> set[bool]:
        check = check_of({"prompt": "p", "instruction_id_list": [name], "kwargs": [given]})
        assert check is not None
        return {check(answer) for _ in range(60)}

    # Unseeded: 22 times English, 38 times not.
    assert len(verdicts("change_case:english_lowercase", {}, "hello world i am at it de la")) == 1
    hashes = {"letter": "#", "let_frequency": 4, "let_relation": "at least"}
    assert verdicts("keywords:letter_frequency", hashes, "# a # b # c #") == {True}
    assert verdicts("keywords:letter_frequency", hashes, "aaaa bbbb eeee # oooo") == {False}
    state = random.getstate()
    open_ended = {"let_relation": "at least"}
    assert len(verdicts("keywords:letter_frequency", open_ended, "eeee tttt oooo")) == 1
    assert random.getstate() == state


def test_instructions_without_verifiers_are_refused_in_one_line(monkeypatch) -> None:
    monkeypatch.setitem(EXTRAS, "lm-eval", ("package_that_nobody_has",))
    with pytest.raises(MissingExtraError, match="lm-eval"):
        check_of(ROW)
