"""evaluate --requests: open requests are answered in every way, and loops counted apart."""

import json
from dataclasses import replace

import pytest

from sbd_core import ArgumentError, DecodeConfig
from sbd_core.__main__ import main
from sbd_core.errors import MissingExtraError
from sbd_core.evaluation.instructions import check_of, verifiers
from sbd_core.evaluation.requests import GAMMAS, NTP, request_configs, score_requests
from sbd_core.extras import EXTRAS
from tests.core.cli.commands import last_line
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

    return ScriptedModel(
        texts=TEXTS,
        next_logits=lambda tokens: row(token_after(tokens)),
        block_logits=block_logits,
        mask_token_id=MASK,
        end_token_ids=frozenset({END}),
    )


def test_loops_are_counted_and_left_out_of_every_other_figure() -> None:
    base = DecodeConfig(max_new_tokens=40, block_size=4)
    configs = request_configs(base, 4)
    configs.pop("verify, fastest here")  # what rows cost is measured, and not the matter here
    answered = []
    scores = score_requests(singer(), ["?", "!", "?"], configs, advance=answered.append)
    assert sum(answered) == 3 * len(configs)
    assert [score.row for score in scores] == list(configs)
    for score in scores:
        assert (score.num_answers, score.num_loops, score.num_tokens) == (2, 1, 10)
        assert score.tokens_per_forward == 10 / score.num_forwards
        assert score.same_as_ntp == score.agreement == 1
    passes = {score.row: score.num_forwards for score in scores}
    assert passes[NTP] == 10
    assert passes["verify"] == 2 * 2  # one token and a draft of three, then a check that adds one


def test_answers_that_follow_instructions_are_counted_beside_those_of_ntp() -> None:
    base = DecodeConfig(max_new_tokens=8, block_size=4)
    configs = {NTP: base, "cut": replace(base, max_new_tokens=2)}
    configs = {row: replace(config, strategy="ntp") for row, config in configs.items()}
    [alone] = score_requests(singer(), ["?"], {NTP: configs[NTP]})
    assert alone.accuracy is alone.difference is None
    checks = [None, lambda text: "b" in text, lambda text: "c b c" in text]
    ntp, cut = score_requests(singer(), ["?", "?", "?"], configs, checks=checks)
    assert (ntp.accuracy, ntp.difference, ntp.difference_interval) == (1, 0, 0)
    assert (cut.accuracy, cut.difference) == (0.5, -0.5)
    # Differences of 0 and -1: their deviation is sqrt(1/2), that of their mean 1/2.
    assert cut.difference_interval == pytest.approx(1.96 / 2)


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
    with pytest.raises(ArgumentError, match="must be IFEval's, one mapping an instruction"):
        check_of({**ROW, "kwargs": [{}]})
    with pytest.raises(ArgumentError, match="must be IFEval's"):
        check_of({**ROW, "instruction_id_list": ["made:up", "made:up"]})


def test_instructions_without_verifiers_are_refused_in_one_line(monkeypatch) -> None:
    monkeypatch.setitem(EXTRAS, "lm-eval", ("package_that_nobody_has",))
    verifiers.cache_clear()
    with pytest.raises(MissingExtraError, match="lm-eval"):
        check_of(ROW)


def test_the_command_answers_the_first_requests_of_a_file(tiny_folders, tmp_path, capsys) -> None:
    file, out = tmp_path / "asked.jsonl", tmp_path / "scores.json"
    file.write_text("".join(json.dumps({"prompt": text}) + "\n" for text in ("a b", "c", "d")))
    words = ["evaluate", "--requests", str(file), "--limit", "2", "--max-new-tokens", "6"]
    words += ["--model", str(tiny_folders["llama"]), "--device", "cpu", "--block-size", "4"]
    assert main([*words, "--json", "--out", str(out)]) == 0
    found = last_line(capsys)
    assert found == json.loads(out.read_text("utf-8"))
    assert (found["num_requests"], found["requests"]) == (2, "asked.jsonl")
    rows = {row["row"]: row for row in found["rows"]}
    assert len(rows) == 4 + 3 * len(GAMMAS)
    for name, row in rows.items():
        assert row["num_answers"] + row["num_loops"] == 2
        if name == NTP or name.startswith("verify"):
            assert row["same_as_ntp"] == 1
            assert row["agreement"] == 1


def test_bad_requests_are_refused_by_name(tmp_path, capsys) -> None:
    for words, argument in (
        (["--requests", str(tmp_path / "none.jsonl")], "requests"),
        (["--requests", __file__], "requests"),
        (["--requests", __file__, "--limit", "0"], "limit"),
    ):
        assert main(["evaluate", *words]) == 2
        assert capsys.readouterr().err.startswith(f"error: {argument}: ")
    with pytest.raises(ArgumentError, match=r"^configs: must have the row NTP"):
        score_requests(singer(), ["?"], {"sbd": DecodeConfig()})
