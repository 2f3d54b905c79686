"""Answers are judged by their words alone, and a reader who stops leaves the file as it was."""

import builtins
import json

import pytest

from scripts import judge

DATA = {
    "requests": ["What is 1 + 1?", "Name a color."],
    "answers": {"NTP": ["2", "Red."], "SBD": ["2", "Seven."]},
    "sensible": {},
}


@pytest.fixture
def file(monkeypatch, tmp_path):
    monkeypatch.setattr(judge, "RESULTS", tmp_path / "ordinary.json")
    judge.RESULTS.write_text(json.dumps(DATA))
    return judge.RESULTS


def test_equal_answers_are_judged_once_and_no_way_is_named(file, monkeypatch, capsys) -> None:
    def said(question: str) -> str:
        shown = capsys.readouterr().out
        assert "NTP" not in shown + question
        assert "SBD" not in shown
        asked.append(shown)
        if len(asked) == 1:
            return "maybe"
        return "n" if "Seven" in asked[-1] or ("Seven" in asked[-2] and not shown) else "y"

    asked: list[str] = []
    monkeypatch.setattr(builtins, "input", said)
    assert judge.main(["ask", "first"]) == 0
    assert len(asked) == 1 + 3
    assert json.loads(file.read_text())["sensible"] == {
        "first": {"NTP": [True, True], "SBD": [True, False]}
    }


def test_a_reader_who_stops_leaves_the_file_alone(file, monkeypatch) -> None:
    def ended(question: str) -> str:
        raise EOFError

    monkeypatch.setattr(builtins, "input", ended)
    assert judge.main(["ask", "second"]) == 130
    assert json.loads(file.read_text()) == DATA
