"""The form's words on the committed evaluation, and on the meaning of each solver's gamma."""

import json

import pytest

from sbd_core.solvers import SOLVERS
from scripts.web_constants import solver_words
from ui import best_settings
from ui.best_settings import best_for, best_of
from ui.examples import BUNDLED_MODEL


def evaluation(**rows: tuple[float, float]) -> dict:
    """{row: (accuracy, tokens a forward pass)}; g01 is gamma 0.1."""
    names = {"ntp": "NTP", "g01": "SBD gamma 0.1", "g035": "SBD gamma 0.35", "verify": "verify"}
    tasks = [{"num_examples": 500}, {"num_examples": 200}]
    return {
        "block_size": 16,
        "rows": {
            names[name]: {
                "mean": {"accuracy": accuracy, "tokens_per_forward": speed},
                "families": tasks,
            }
            for name, (accuracy, speed) in rows.items()
        },
    }


def test_the_largest_gamma_within_a_point_of_next_token_prediction_is_the_default():
    best = best_of(evaluation(ntp=(0.9, 1), g01=(0.9, 4), g035=(0.89, 5), verify=(0.9, 4.5)))
    assert (best.strategy, best.gamma) == ("sbd", 0.35)
    assert "Eq. 8’s γ 0.35 is the boldest measured within a point of" in best.words
    assert "89.0% right at 5.00" in best.words
    assert "2 tasks, 200 examples each, blocks of 16" in best.words


def test_verify_is_the_default_if_no_gamma_is_within_a_point_or_it_has_more_tokens_a_pass():
    rows = {"ntp": (0.9, 1), "g01": (0.7, 4), "g035": (0.6, 5), "verify": (0.9, 4.5)}
    best = best_of(evaluation(**rows))
    assert (best.strategy, best.gamma) == ("verify", 0.1)
    assert "4.50 tokens a forward pass; Eq. 8’s γ 0.1 gets only 70.0% right" in best.words
    best = best_of(evaluation(**{**rows, "g01": (0.895, 4)}))
    assert (best.strategy, best.gamma) == ("verify", 0.1)
    assert "Eq. 8’s γ 0.1, the boldest within a point of that" in best.words


def test_without_verify_and_with_no_gamma_near_the_most_accurate_one_is_taken():
    best = best_of(evaluation(ntp=(0.9, 1), g01=(0.7, 4), g035=(0.8, 5)))
    assert (best.strategy, best.gamma) == ("sbd", 0.35)
    assert best.words.startswith("No γ measured comes within a point of")


def test_the_committed_evaluation_has_an_answer_whose_numbers_are_its_own():
    best = best_for(BUNDLED_MODEL, can_draft=True)
    rows = json.loads(best_settings.EVALUATION.read_text("utf-8"))["rows"]
    row = rows[f"SBD gamma {best.gamma:g}"]["mean"]
    for share in (row["accuracy"], rows["NTP"]["mean"]["accuracy"]):
        assert f"{share:.1%}" in best.words
    assert f"{row['tokens_per_forward']:.2f}" in best.words


def test_a_model_that_was_not_measured_gets_the_gamma_of_the_paper_and_is_told():
    best = best_for("another", can_draft=True)
    assert (best.strategy, best.gamma) == ("verify", 0.1)
    assert "we did not measure this one" in best.words
    assert best_for("another", can_draft=False).strategy == "ntp"


@pytest.mark.parametrize("text", ["", "{}", '{"rows": {}}', '{"rows": {"NTP": {}}}', "[1]"])
def test_a_missing_or_damaged_evaluation_is_no_reason_to_fall_over(monkeypatch, tmp_path, text):
    monkeypatch.setattr(best_settings, "EVALUATION", tmp_path / "evaluation.json")
    best_settings.measured.cache_clear()
    try:
        assert "did not measure" in best_for(BUNDLED_MODEL, can_draft=True).words
        best_settings.EVALUATION.write_text(text, encoding="utf-8")
        best_settings.measured.cache_clear()
        assert best_for(BUNDLED_MODEL, can_draft=True).gamma == 0.1
    finally:
        best_settings.measured.cache_clear()


def test_solvers_with_a_gamma_say_what_it_is_and_no_others():
    words = solver_words()
    assert list(words["solverLines"]) == list(SOLVERS)
    for name, rule in SOLVERS.items():
        has_gamma = "gamma" in rule.__dataclass_fields__
        bound = words["bounds"][name]
        assert (bound["kind"] != "none") == bool(bound["gamma"]) == has_gamma, name
        assert bool(bound["exempt"]) == has_gamma, name


def test_an_adapter_that_was_measured_on_requests_starts_from_those_settings(tmp_path, monkeypatch):
    file = tmp_path / "requests.json"
    monkeypatch.setattr(best_settings, "REQUESTS", file)
    plain = best_for("real", can_draft=True, has_adapter=True)
    assert (plain.strategy, plain.block_size) == ("verify", 4)
    assert plain.words == f"{best_settings.ADAPTER_WORDS}."
    scores = [
        {"row": row, "tokens_per_forward": speed, "agreement": share, "num_answers": 48}
        for row, speed, share in (
            ("verify", 1.75, 1),
            ("SBD, gamma 0.35", 1.2, 0.8),
            ("SBD causal token first, gamma 2", 1.4, 0.95),
        )
    ]
    gammas = {"SBD": 0.35, "SBD causal token first": 2.0}
    bolder = [{**row, "tokens_per_forward": 1.6, "agreement": 0.91} for row in scores]
    requests = {"own": scores, "structured": bolder}
    data = {"model": "real", "block_size": 5, "gammas": gammas, "requests": requests}
    file.write_text(json.dumps(data))
    best_settings.measured_on_requests.cache_clear()
    best = best_for("real", can_draft=True, has_adapter=True)
    assert (best.strategy, best.gamma, best.block_size) == ("verify", 0.35, 5)
    assert best.words.endswith("1.75 tokens a forward pass (48 prompts of own, blocks of 5).")
    assert "its adapter learned to draft for verify" in best.paper
    assert "at γ 0.35 1.20 tokens a forward pass" in best.paper
    assert best.paper.endswith("would keep 80%.")
    assert best.causal_first is not None
    assert best.causal_first[0] == 2.0
    assert "1.4 to 1.6 tokens a forward pass in blocks of 5, of which" in best.causal_first[1]
    assert best.causal_first[1].endswith("would keep 91% to 95%.")
    assert best_for("other", can_draft=True, has_adapter=True) == plain
    best_settings.measured_on_requests.cache_clear()
