"""The Learn view: every scene by keys, clicks and its address; its task done, and answered."""

import re
from functools import partial

import pytest

from tests.browser.conftest import RUN, painted, sync_api
from tests.browser.test_access import serious, tab_reaches_all
from ui.decode.form import DEFAULT_GAMMA
from ui.examples import learn_runs
from ui.page import lesson_html
from ui.views.learn import scenes as scenes_of

pytestmark = pytest.mark.browser
expect = sync_api.expect
WINDOW_HEIGHT = 900
LAST = 10
scenes = partial(scenes_of, has_model=False)  # of the exported file
EVERY_GUESS = re.compile(r"keeps (\d+) of \1\b")
STEP_MS = 1_500
"""Longer than a step of a picture that moves by itself."""


@pytest.fixture(scope="module")
def lesson_url(tmp_path_factory) -> str:
    path = tmp_path_factory.mktemp("learn") / "learn.html"
    path.write_text(lesson_html(), encoding="utf-8")
    return path.as_uri()


@pytest.fixture
def lesson(browser, lesson_url):
    """Open a scene of the exported file, offline; an error on the page fails the test."""
    pages, wrongs = [], []

    def open_it(scene: object = 1, width: int = 1440, height: int = 900, scheme: str = "light"):
        context = browser.new_context(viewport={"width": width, "height": height}, offline=True)
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        page.on("pageerror", lambda error: wrongs.append(str(error)))
        page.on("request", lambda r: r.url.startswith("file:") or wrongs.append(r.url))
        page.goto(f"{lesson_url}#learn/{scene}")
        page.wait_for_selector(".sbd-learn-question")
        pages.append(context)
        return page

    yield open_it
    for context in pages:
        context.close()
    assert wrongs == []


def plain(text: str) -> str:
    """A scene's text without the marks of glossary words."""
    return re.sub(r"\[([^\]|]+)(?:\|[a-z]+)?\]", r"\1", text)


def question(page):
    return page.locator(".sbd-learn-question")


def answer(page):
    return page.locator(".sbd-learn-answer")


def why(page):
    return page.locator(".sbd-learn-why")


def drag(page, locator, part: float):
    box = locator.bounding_box()
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 3, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * part, middle, steps=6)
    page.mouse.up()


def test_keys_walk_every_scene_there_and_back(lesson):
    page = lesson()
    for number, scene in enumerate(scenes(), 1):
        expect(question(page)).to_have_text(scene["question"])
        assert serious(page) == []
        if number < LAST:  # the last has no question to answer
            expect(answer(page)).to_be_empty()
        assert page.url.endswith(f"#learn/{scene['address']}") or number == 1
        page.keyboard.press("ArrowRight")
        expect(answer(page)).to_have_text(plain(scene["answer"]))
        expect(why(page)).to_have_text(plain(scene.get("why", "")))
        if number < LAST:
            page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    expect(question(page)).to_have_text(scenes()[-2]["question"])
    expect(answer(page)).to_have_text(plain(scenes()[-2]["answer"]))  # still answered
    page.keyboard.press("Home")
    expect(question(page)).to_have_text(scenes()[0]["question"])
    page.keyboard.press("End")
    expect(question(page)).to_have_text(scenes()[-1]["question"])


def test_clicks_walk_every_scene_and_the_browser_goes_back(lesson):
    page = lesson()
    for scene in scenes()[:-1]:
        expect(question(page)).to_have_text(scene["question"])
        page.get_by_role("button", name="Show me").click()
        expect(answer(page)).to_have_text(plain(scene["answer"]))
        expect(page.locator(".sbd-learn-act")).to_be_hidden()
        following = page.get_by_role("button", name="Next", exact=True)
        box = following.bounding_box()
        assert box["y"] + box["height"] <= WINDOW_HEIGHT, scene["title"]
        following.click()
    expect(answer(page)).to_have_text(scenes()[-1]["answer"])
    page.get_by_role("button", name="Scene 4: The budget").click()
    expect(question(page)).to_have_text(scenes()[3]["question"])
    page.go_back()
    expect(question(page)).to_have_text(scenes()[-1]["question"])


def test_an_unknown_scene_is_a_sentence_and_the_view_goes_on(lesson):
    page = lesson("<img src=x onerror=alert(1)>")
    expect(page.get_by_role("alert")).to_contain_text("There is no scene “<img src=x")
    expect(question(page)).to_have_text(scenes()[0]["question"])
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(question(page)).to_have_text(scenes()[1]["question"])
    expect(page.get_by_role("alert")).to_be_hidden()


def test_a_presenters_remote_turns_the_scenes_in_a_lecture(lesson):
    page = lesson(2)
    page.keyboard.press("PageDown")
    expect(answer(page)).to_be_empty()
    page.keyboard.press("l")
    page.keyboard.press("PageDown")
    expect(answer(page)).to_have_text(plain(scenes()[1]["answer"]))
    page.keyboard.press("PageDown")
    expect(question(page)).to_have_text(scenes()[2]["question"])
    page.keyboard.press("PageUp")
    expect(question(page)).to_have_text(scenes()[1]["question"])


CUT = """() => {
  const scene = document.querySelector('.sbd-learn-scene');
  const rooms = [scene, scene.querySelector('.sbd-learn-stage')];
  const isOver = (node) => node.scrollHeight > node.clientHeight;
  const found = rooms.filter(isOver).map((node) => node.className);
  const texts = document.createTreeWalker(scene, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const owner = texts.currentNode.parentElement;
    const range = document.createRange();
    range.selectNodeContents(texts.currentNode);
    const isSeen = owner.checkVisibility({ visibilityProperty: true });
    const boxes = isSeen ? [...range.getClientRects()].filter(({ width }) => width > 1) : [];
    for (let node = owner; node !== scene.parentElement; node = node.parentElement) {
      if (getComputedStyle(node).overflow === 'visible') continue;
      const { left, right, top, bottom } = node.getBoundingClientRect();
      const isCut = (box) => {
        const middle = (box.top + box.bottom) / 2; // a line is taller than its letters
        return box.left < left - 2 || box.right > right + 2 || middle < top || middle > bottom;
      };
      if (boxes.some(isCut)) found.push(`${texts.currentNode.textContent} in ${node.className}`);
    }
  }
  return found;
}"""
"""What does not fit its room in the scene shown, and the texts that are cut."""


@pytest.mark.parametrize(("width", "height"), [(1920, 1080), (1440, 900), (1280, 720)])
def test_a_lecture_fits_the_window_in_every_scene(lesson, width, height):
    page = lesson(1, width, height)
    page.keyboard.press("l")
    for number, scene in enumerate(scenes(), 1):
        expect(question(page)).to_have_text(scene["question"])
        painted(page)
        assert page.evaluate(CUT) == [], number
        page.keyboard.press("ArrowRight")
        expect(answer(page)).to_have_text(plain(scene["answer"]))
        painted(page)
        assert page.evaluate(CUT) == [], number
        page.keyboard.press("ArrowRight")


def test_a_lecture_keeps_the_legend_and_what_is_honest(lesson):
    page = lesson("checking")
    page.keyboard.press("l")
    expect(page.locator(".sbd-verify li").first).to_be_visible()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".sbd-learn-cost > .sbd-learn-source")).to_be_visible()


def test_a_key_too_many_neither_decodes_nor_ends_a_lecture(open_page, story_url):
    page = open_page(f"{story_url}#learn/your-turn", reduced_motion="reduce")
    page.keyboard.press("l")
    for _ in range(3):
        page.keyboard.press("PageDown")
    painted(page)
    expect(page.locator(".sbd-learn.is-lecture")).to_be_visible()
    assert page.evaluate(f"{RUN}.id") == "opening"
    page.keyboard.press("PageUp")
    expect(question(page)).to_have_text(scenes_of()[-2]["question"])


def test_gamma_dragged_in_a_lecture_leaves_the_arrows_to_the_scenes(lesson):
    page = lesson(4, 1920, 1080)
    page.keyboard.press("l")
    box = page.get_by_role("slider").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + 300, box["y"] + 10)
    page.mouse.up()
    expect(answer(page)).to_have_text(plain(scenes()[3]["answer"]))
    page.keyboard.press("ArrowRight")
    expect(question(page)).to_have_text(scenes()[4]["question"])


def test_a_word_explains_itself(lesson):
    page = lesson("masks")
    page.keyboard.press("ArrowRight")
    word = page.get_by_role("button", name="mask", exact=True)
    expect(word).to_have_attribute("aria-description", re.compile("^A place"))
    word.hover()
    expect(page.locator(".sbd-term-note")).to_contain_text("not known yet")


def test_the_last_scene_decodes_in_the_player_by_what_the_lesson_told_of(open_page, story_url):
    page = open_page(f"{story_url}#learn/your-turn")
    page.get_by_label("Your prompt").fill("my own prompt")
    expect(page.locator(".sbd-learn-step.is-main:visible")).to_have_count(1)
    expect(page.locator(".sbd-learn-skip")).to_be_hidden()
    page.get_by_role("button", name="Decode it").click()
    page.wait_for_function(
        "document.querySelector('.sbd-host').sbdPlayer.run.prompt === 'my own prompt'"
    )
    run = page.evaluate("(({ strategy, solver }) => ({ strategy, solver }))"
                        "(document.querySelector('.sbd-host').sbdPlayer.run)")  # fmt: skip
    assert run["strategy"] == "sbd"
    assert run["solver"] == {"name": "entropy-bound", "gamma": DEFAULT_GAMMA}
    expect(page.locator("#sbd-player .sbd-stale")).to_be_hidden()
    expect(page.locator(".sbd-tile").first).to_be_visible()


def test_on_the_page_axe_finds_nothing_serious_and_tab_reaches_all(open_page, story_url):
    page = open_page(f"{story_url}#learn/3", color_scheme="dark", reduced_motion="reduce")
    page.keyboard.press("ArrowRight")
    assert serious(page) == []
    tab_reaches_all(page)


def test_what_each_scene_asks_for_can_be_done_and_answers(lesson):
    page = lesson("one-at-a-time")
    page.locator(".sbd-learn-choice", has_text="16").click()
    expect(page.get_by_role("status")).to_have_text(
        "Not 16: each forward pass writes one token, so 64 tokens take 64."
    )
    expect(page.locator(".sbd-learn-choice.is-right")).to_have_text("64")
    expect(page.locator(".sbd-learn-count")).to_have_text("64 forward passes, 64 tokens")
    expect(answer(page)).not_to_be_empty()

    page = lesson("masks")
    page.get_by_role("button", name="mask 3: whom").click()
    expect(page.locator(".sbd-learn-caption")).to_contain_text("all 16 places of the block")
    expect(page.locator(".sbd-learn-at.is-seen")).to_have_count(22)
    page.locator(".sbd-learn-at.is-text").nth(2).click()
    expect(page.locator(".sbd-learn-at.is-seen")).to_have_count(3)

    page = lesson("sure-and-unsure")
    page.locator(".sbd-learn-gap-card").nth(0).locator(".sbd-learn-choice").nth(1).click()
    expect(answer(page)).to_be_empty()
    page.locator(".sbd-learn-gap-card").nth(1).locator(".sbd-learn-choice").nth(1).click()
    expect(answer(page)).not_to_be_empty()
    expect(page.locator(".sbd-learn-choice.is-right")).to_have_count(2)


def test_a_chosen_cell_is_compared_with_the_forward_pass_that_filled_it(lesson):
    page = lesson("out-of-order")
    cell = page.locator(".sbd-sudoku-cell:not(.is-given)").nth(1)
    name = re.match(r"Row \d, column \d", cell.get_attribute("aria-label"))[0].lower()
    cell.click()
    expect(page.locator(".sbd-learn-order-side .sbd-learn-yours")).to_contain_text(
        f"You chose {name.replace(',', '')}: it came in forward pass"
    )
    fills = page.locator(".sbd-learn-order-side .sbd-learn-yours")
    came = re.compile(r"came in forward pass \d+ \((the last that|forward pass \d+) fills")
    expect(fills).to_contain_text(came)
    expect(page.locator(".sbd-sudoku-cell[data-chosen]")).to_have_count(1)
    expect(answer(page)).not_to_be_empty()
    assert not page.locator(".sbd-sudoku-cell.is-given .sbd-sudoku-pass:visible").count()
    passes = set(page.locator(".sbd-sudoku-pass").all_inner_texts()) - {""}
    assert passes
    assert all(number.isdigit() for number in passes), passes


def test_the_first_empty_cell_shows_what_the_givens_leave_it_until_it_is_filled(lesson):
    order = learn_runs().choices.order
    page = lesson("out-of-order")
    question = page.locator(".sbd-learn-open")
    assert question.count() == bool(order.settled_by)
    if order.settled_by:
        expect(question).to_have_text(f"{' or '.join(order.candidates)}?")
        page.keyboard.press("ArrowRight")
        expect(question).to_be_hidden()


def test_tiles_say_their_forward_pass_and_one_more_guess_is_counted(lesson):
    page = lesson("the-bound")
    page.keyboard.press("ArrowRight")
    said = set(page.locator(".sbd-tile-pass").all_inner_texts()) - {""}
    assert f"pass {learn_runs().choices.bound_pass + 1}" in said
    assert all(re.fullmatch(r"pass \d+", words) for words in said)
    expect(page.locator(".sbd-learn-sum")).to_contain_text(re.compile("more than|All are kept"))


def test_stepping_through_forward_passes_shows_what_the_cache_keeps(lesson):
    page = lesson("the-cache")
    slider = page.get_by_role("slider", name="Forward pass")
    slider.focus()
    page.keyboard.press("ArrowRight")
    expect(answer(page)).not_to_be_empty()
    first = page.locator(".sbd-learn-block:has(.sbd-learn-cells)").first
    for _ in learn_runs().runs["text"]["sbd"].events:
        if "is-riding" in first.get_attribute("class"):
            break
        page.keyboard.press("ArrowRight")
    expect(page.locator(".sbd-learn-block.is-riding")).to_have_count(1)
    expect(page.locator(".sbd-learn-block.is-block")).to_have_count(1)
    page.keyboard.press("End")
    last = (
        learn_runs().runs["text"]["sbd"].events[-1]
    )  # a last block of one forward pass has one riding along
    riding = page.locator(".sbd-learn-block.is-riding")
    expect(riding).to_have_count(1 if last.num_causal else 0)


def test_gamma_is_raised_until_the_story_breaks(lesson):
    page = lesson("what-goes-wrong")
    verdict = page.locator(".sbd-learn-verdict")
    expect(verdict).to_contain_text("Holds")
    drag(page, page.get_by_role("slider", name="γ"), 1)
    expect(verdict).to_contain_text("Broken")
    assert page.locator(".sbd-learn-clash sub").count() >= 2
    expect(answer(page)).not_to_be_empty()


def test_a_given_cell_answers_and_does_not_look_like_one_that_was_filled(lesson):
    page = lesson("out-of-order")
    given, empty = (
        page.locator(".sbd-sudoku-cell.is-given").first,
        page.locator(".sbd-sudoku-cell:not(.is-given)"),
    )
    given.click()
    said = page.locator(".sbd-learn-order-side .sbd-learn-yours")
    expect(said).to_contain_text("is given: choose an empty cell.")
    expect(answer(page)).to_be_empty()
    empty.first.click()
    expect(answer(page)).not_to_be_empty()
    look = "node => [getComputedStyle(node).backgroundColor, getComputedStyle(node).fontWeight]"
    filled = empty.first.evaluate(look)
    assert all(a != b for a, b in zip(given.evaluate(look), filled, strict=True))


def test_a_bar_of_the_bound_says_the_same_entropy_once_its_token_is_kept(lesson):
    page = lesson("the-bound")
    levels = "all => all.map(node => node.style.getPropertyValue('--level'))"
    before = page.locator(".sbd-tile-bar").evaluate_all(levels)
    page.get_by_role("slider").focus()
    page.keyboard.press("End")
    expect(page.locator(".sbd-learn-count")).to_contain_text(EVERY_GUESS)
    assert page.locator(".sbd-tile-bar").evaluate_all(levels) == before
    assert max(map(float, before)) > 0.1


def test_the_handle_of_gamma_is_whole_in_a_lecture(lesson):
    page = lesson("the-bound", 1920, 1080)
    page.keyboard.press("l")
    grip = page.locator(".sbd-gamma-grip").bounding_box()
    stage = page.locator(".sbd-learn-stage").bounding_box()
    assert grip["x"] >= stage["x"]


def test_on_a_phone_tiles_say_pass_before_its_number(lesson):
    page = lesson("the-bound", 390, 844)
    page.keyboard.press("ArrowRight")
    kept = page.locator(".sbd-tile.is-new .sbd-tile-pass")
    expect(kept.first).to_be_visible()
    number = learn_runs().choices.bound_pass + 1
    assert set(kept.all_inner_texts()) == {f"pass {number}"}
    over = "all => all.some(node => node.scrollWidth > node.parentElement.clientWidth)"
    assert not kept.evaluate_all(over)


def test_the_cache_is_explained_before_the_reader_steps(lesson):
    page = lesson("the-cache")
    expect(page.locator(".sbd-learn-stage")).to_contain_text("keeps two vectors of every")
    expect(answer(page)).to_be_empty()


def test_a_token_outside_the_draft_answers_that_it_is(lesson):
    page = lesson("checking")
    page.locator(".sbd-tile:not(.is-draft)").last.click()
    expect(page.locator(".sbd-learn-yours")).to_contain_text("That is not in the draft")
    expect(answer(page)).to_be_empty()


def test_a_doubted_word_shows_its_guesses_hindsight_pin_and_branch(lesson):
    page = lesson("your-turn")
    card = page.locator(".sbd-learn-inspected")
    doubt = page.locator(".sbd-learn-doubt").last
    doubt.click()
    expect(card).to_contain_text(doubt.text_content().strip())
    for word in ("Guesses in forward pass", "Hindsight:", "Pin:", "Branch:"):
        expect(card).to_contain_text(word)


@pytest.mark.parametrize("name", ["Pin", "Branch"])
def test_a_doubted_word_is_pinned_or_branched_from_in_the_player(open_page, story_url, name):
    page = open_page(f"{story_url}#learn/your-turn", reduced_motion="reduce")
    expect(page.locator(".sbd-learn-yours-card")).to_contain_text("decodes it")
    with page.expect_request("**/call/decode") as asked:
        page.get_by_role("button", name=name, exact=True).click()
    text = learn_runs().runs["text"]["sbd"]
    doubt = next(
        (item.position, item.argmax_id)
        for event in text.events
        for item in event.hindsight
        if item.token_id != item.argmax_id
    )
    sent = asked.value.post_data_json["data"]
    [pinned] = [each for each in sent if isinstance(each, list)]
    assert sent[0] == text.prompt
    assert [*doubt] in pinned
    assert (len(pinned) == 1) == (name == "Pin")
    expect(page.locator("#sbd-player")).to_be_visible()
    expect(page.get_by_label("Prompt", exact=True)).to_have_value(text.prompt)


def checked_draft() -> tuple[tuple[int, ...], int]:
    """The draft of the scene, and how many of its tokens the next forward pass accepts."""
    events, at = learn_runs().runs["verify"]["verify"].events, learn_runs().choices.check_pass
    draft, committed = events[at - 1].draft, events[at].committed
    return draft, next(n for n, token in enumerate(draft) if committed[n] != token)


def test_a_drafted_token_is_thrown_away(lesson):
    _, num_accepted = checked_draft()
    page = lesson("checking")
    page.locator(".sbd-tile.is-draft").nth(num_accepted).click()
    news = page.locator(".sbd-learn-yours")
    expect(news).to_contain_text("Right: you would throw away")
    expect(news).to_contain_text(re.compile("drafts anew|drafts on"))
    expect(page.locator(".sbd-tile.is-accepted")).not_to_have_count(0)
    expect(answer(page)).not_to_be_empty()


def test_chip_block_and_batch_are_chosen_and_each_changes_what_it_says(lesson):
    page = lesson("what-it-buys")
    said = page.locator(".sbd-learn-cost [role=status]")
    page.get_by_role("button", name="RTX 4090").click()
    expect(said).to_have_text(re.compile(r"^\d\.\d\d times as fast"))
    expect(page.locator(".sbd-learn-time")).to_contain_text("one text by Llama-3.1-8B on RTX 4090")
    passes = page.locator(".sbd-learn-bar-row:has-text('in blocks of') .sbd-learn-bar-number").first
    expect(passes).to_have_text(str(learn_runs().runs["text"]["sbd"].num_forwards))
    page.get_by_role("group", name="Block size").get_by_role("button", name="4").click()
    smaller = learn_runs().runs["block-4"]["sbd"].num_forwards
    expect(passes).to_have_text(str(smaller))
    page.get_by_role("group", name="Block size").get_by_role("button", name="16").click()
    page.get_by_role("group", name="Batch size").get_by_role("button", name="128").click()
    expect(said).to_have_text(re.compile(r"^Slower, 0\.\d\d times as fast"))
    expect(page.locator(".sbd-learn-time")).to_contain_text("128 such texts at once")


def test_a_file_without_a_model_says_so_at_once_and_offers_no_decoding(lesson):
    page = lesson("your-turn")
    said = page.locator(".sbd-learn-yours-card")
    expect(said).to_contain_text("This file has no model inside")
    expect(said).to_contain_text("python app.py")
    expect(page.get_by_role("button", name="Decode it")).to_have_count(0)
    expect(said.get_by_role("textbox")).to_have_count(0)


def test_show_me_stops_where_the_story_breaks(lesson):
    page = lesson("what-goes-wrong")
    page.emulate_media(reduced_motion="no-preference")
    broken = next(edge for edge in learn_runs().choices.edges if not edge.is_right)
    page.get_by_role("button", name="Show me").click()
    words = re.compile(rf"^{broken.gamma:g} nats?$")
    expect(page.locator(".sbd-learn-slider-words")).to_have_text(words)
    page.wait_for_timeout(STEP_MS)
    expect(page.locator(".sbd-learn-slider-words")).to_have_text(words)
    expect(page.locator(".sbd-learn-verdict")).to_contain_text("Broken")


def test_show_me_stops_at_the_rereading_that_first_finds_a_token_it_would_not_write(lesson):
    trace = learn_runs().runs["text"]["sbd"]
    event, doubts = next(
        (event, doubts)
        for event in trace.events
        if (doubts := [item for item in event.hindsight if item.token_id != item.argmax_id])
    )
    page = lesson("the-cache")
    page.emulate_media(reduced_motion="no-preference")
    page.get_by_role("button", name="Show me").click()
    place = page.locator(".sbd-learn-slider-words")
    expect(place).to_have_text(f"{event.index + 1} of {trace.num_forwards}")
    page.wait_for_timeout(STEP_MS)
    expect(place).to_have_text(f"{event.index + 1} of {trace.num_forwards}")
    expect(page.locator(".is-riding .sbd-learn-cell.is-doubted")).to_have_count(len(doubts))
    expect(page.locator(".sbd-learn-count")).to_contain_text(
        trace.tokens[doubts[0].argmax_id].strip()
    )


def num_kept(total) -> int:
    expect(total).to_contain_text("keeps")
    return int(re.search(r"keeps (\d+) of", total.inner_text())[1])


def test_dragging_gamma_keeps_more_by_pointer_and_by_key(lesson):
    page = lesson("the-bound")
    total = page.locator(".sbd-learn-count")
    few = num_kept(total)
    assert few >= 1
    before = total.text_content()
    drag(page, page.locator(".sbd-budget-track"), 0.9)
    expect(answer(page)).not_to_be_empty()
    expect(total).not_to_have_text(before)
    many = num_kept(total)
    assert many > few
    expect(page.locator(".sbd-tile.is-new")).to_have_count(many)
    page.get_by_role("slider").focus()
    before = total.text_content()
    for _ in range(5):
        page.keyboard.press("PageDown")
    expect(total).not_to_have_text(before)
