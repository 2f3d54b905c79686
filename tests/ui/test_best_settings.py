"""The form's words on the committed results, and on the meaning of each solver's gamma."""

import json
import re

from sbd_core.files import ASSETS
from sbd_core.models.model_folder import REAL_MODEL
from sbd_core.solvers import SOLVERS
from scripts.web_constants import solver_words
from ui.best_settings import FIRST_GAMMA, best_for
from ui.examples import BUNDLED_MODEL

MAX_LOSS = 0.01
EVALUATION = ASSETS / "results" / "evaluation.json"
REQUESTS = ASSETS / "results" / "requests.json"


def test_the_choice_for_nano_is_what_its_evaluation_says_by_the_rule():
    best = best_for(BUNDLED_MODEL, can_draft=True)
    stored = json.loads(EVALUATION.read_text("utf-8"))["rows"]
    rows = {name: row["mean"] for name, row in stored.items()}
    found = {name: re.fullmatch(r"SBD gamma ([0-9.]+)", name) for name in rows}
    gammas = {float(match[1]): rows[name] for name, match in found.items() if match}
    least = rows["NTP"]["accuracy"] - MAX_LOSS - 1e-9
    close = [gamma for gamma, mean in gammas.items() if mean["accuracy"] >= least]
    gamma = max(close) if close else max(gammas, key=lambda each: gammas[each]["accuracy"])
    speed = rows["verify"]["tokens_per_forward"]
    is_beaten = bool(close) and gammas[gamma]["tokens_per_forward"] > speed
    is_verify = rows["verify"]["accuracy"] >= least and not is_beaten
    assert (best.strategy, best.gamma) == ("verify" if is_verify else "sbd", gamma)
    assert not close, "the sentence says that the gamma gets only so many right"
    for share in (gammas[gamma]["accuracy"], rows["NTP"]["accuracy"]):
        assert f"{share:.1%}" in best.words
    for rate in (gammas[gamma]["tokens_per_forward"], speed):
        assert f"{rate:.2f}" in best.words
    data = json.loads(EVALUATION.read_text("utf-8"))
    tasks, size = data["rows"]["NTP"]["families"], data["block_size"]
    count = min(task["num_examples"] for task in tasks)
    assert f"({len(tasks)} tasks, {count} examples each, blocks of {size})" in best.words


def test_a_model_that_was_not_measured_gets_the_gamma_of_the_paper_and_is_told():
    best = best_for("another", can_draft=True)
    assert (best.strategy, best.gamma) == ("verify", 0.1)
    assert "we did not measure this one" in best.words
    assert best_for("another", can_draft=False).strategy == "ntp"


def test_solvers_with_a_gamma_say_what_it_is_and_no_others():
    words = solver_words()
    assert list(words["solverLines"]) == list(SOLVERS)
    for name, rule in SOLVERS.items():
        has_gamma = "gamma" in rule.__dataclass_fields__
        bound = words["bounds"][name]
        assert (bound["kind"] != "none") == bool(bound["gamma"]) == has_gamma, name
        assert bool(bound["exempt"]) == has_gamma, name


def test_the_real_model_starts_from_its_results_on_requests_and_another_adapter_from_none():
    data = json.loads(REQUESTS.read_text("utf-8"))
    assert data["model"] == REAL_MODEL
    tables = [{row["row"]: row for row in scores} for scores in data["requests"].values()]
    best, rows = best_for(REAL_MODEL, can_draft=True, has_adapter=True), tables[0]
    gamma, first = data["gammas"]["SBD"], data["gammas"]["SBD causal token first"]
    settings = (best.strategy, best.gamma, best.block_size)
    assert settings == ("verify", gamma, data["block_size"])
    assert f"{rows['verify']['tokens_per_forward']:.2f} tokens a forward pass" in best.words
    name, size, plain = (
        next(iter(data["requests"])),
        data["block_size"],
        rows[f"SBD, gamma {gamma:g}"],
    )
    assert f"({plain['num_answers']} prompts of {name}, blocks of {size})" in best.words
    assert f"at γ {gamma:g}, {plain['tokens_per_forward']:.2f} tokens a forward pass" in best.paper
    assert best.paper.endswith(f"would keep {rows[f'SBD, gamma {gamma:g}']['agreement']:.0%}.")
    assert first == FIRST_GAMMA
    rates = [
        table[f"SBD causal token first, gamma {first:g}"]["tokens_per_forward"] for table in tables
    ]
    ranges = f"{min(rates):.1f} to {max(rates):.1f} tokens a forward pass in blocks of {size}"
    assert ranges in best.causal_first
    kept = [table[f"SBD causal token first, gamma {first:g}"]["agreement"] for table in tables]
    assert best.causal_first.endswith(f"would keep {min(kept):.0%} to {max(kept):.0%}.")
    other = best_for("other", can_draft=True, has_adapter=True)
    assert (other.strategy, other.block_size, other.causal_first) == ("verify", 4, "")
