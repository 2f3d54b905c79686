"""A sudoku as a grid: what it marks, how it fills in, and what it calls solved."""

import pytest

from tests.browser.conftest import advanced, begin, go_to, push, recorded, sync_api
from tests.ui.doubles import story_model

pytestmark = pytest.mark.browser
expect = sync_api.expect

SOLUTION = "1234341221434321"
PUZZLE = "1000041020400021"
PROMPT = f"Solve this 4x4 sudoku: {PUZZLE}\n"  # the scripted model answers after its last sign


def cells(page):
    return page.locator(".sbd-sudoku-cell")


def show(page, answer: str, prompt: str = PROMPT):
    """Push a finished run and stand at its last pass."""
    push(page, recorded(story_model(answer), f"run {answer}", prompt))
    page.get_by_role("button", name="Last forward pass").click()


def test_givens_are_marked_and_a_right_answer_is_called_solved(replay):
    show(replay, SOLUTION)
    expect(replay.locator(".sbd-sudoku-digit")).to_have_text(list(SOLUTION))
    expect(replay.locator(".sbd-sudoku-verdict")).to_have_text("Solved: no rule is broken.")
    go_to(replay, 0)
    givens = [digit.replace("0", "") for digit in PUZZLE]
    expect(replay.locator(".sbd-sudoku-digit")).to_have_text(givens)
    replay.get_by_role("button", name="Last forward pass").click()
    expect(replay.locator(".sbd-sudoku-digit")).to_have_text(list(SOLUTION))
    cells(replay).nth(5).click()
    expect(replay.locator(".sbd-inspector-kicker")).to_have_text("Position 5 · held")
    is_given = cells(replay).evaluate_all("all => all.map(n => n.classList.contains('is-given'))")
    assert is_given == [digit != "0" for digit in PUZZLE]


def type_puzzle(page, digits: str):
    """Type a puzzle cell by cell and hand it in."""
    if page.locator(".sbd-advanced-switch[aria-expanded=false]").count():
        advanced(page)
    summary = page.get_by_text("A sudoku of your own")
    if not page.get_by_role("button", name="Use it", exact=True).is_visible():
        summary.click()
    for cell, digit in enumerate(digits):
        page.locator(".sbd-puzzle-grid input").nth(cell).fill("" if digit == "0" else digit)
    expect(page.locator(".sbd-puzzle-news")).to_contain_text("This is not the prompt yet")
    page.get_by_role("button", name="Use it", exact=True).click()


def test_a_puzzle_of_ones_own_is_checked_and_becomes_the_prompt(story):
    prompt, news = story.get_by_label("Prompt"), story.locator(".sbd-puzzle-news")
    before = prompt.input_value()
    type_puzzle(story, "1100000000000000")
    expect(news).to_contain_text("The puzzle is impossible")
    type_puzzle(story, "a234000000000000")
    expect(news).to_contain_text("cells must be 1 to 4")
    expect(prompt).to_have_value(before)
    type_puzzle(story, PUZZLE)
    expect(prompt).to_have_value(PROMPT.strip())
    expect(news).to_contain_text("press Decode")
    begin(story)
    expect(story.locator(".sbd-prompt")).to_have_text(PROMPT.strip())
    expect(story.locator(".sbd-sudoku")).to_be_visible()
    prompt.fill("Say something.")
    expect(news).to_have_text("")
