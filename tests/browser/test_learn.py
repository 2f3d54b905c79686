"""The Learn view: every scene by keys, clicks and its address; its task done, and answered."""

import re
from functools import partial

import pytest

from scripts.write_views import learn_runs
from tests.browser.conftest import RUN, painted, sync_api
from tests.browser.test_access import serious, tab_reaches_all
from ui.decode.form import DEFAULT_GAMMA
from ui.page import lesson_html
from ui.values import scenes as scenes_of

pytestmark = pytest.mark.browser
expect = sync_api.expect
WINDOW_HEIGHT = 900
LAST = 10
scenes = partial(scenes_of, has_model=False)  # of the exported file
EVERY_GUESS = re.compile(r"keeps (\d+) of \1\b")
EMPTY = ":not(.is-given)"
STEP_MS = 1_500
"""Longer than a step of a picture that moves by itself."""


@pytest.fixture(scope="module")
def lesson_url(tmp_path_factory) -> str:
    path = tmp_path_factory.mktemp("learn") / "learn.html"
    path.write_text(lesson_html(), encoding="utf-8")
    return path.as_uri()


@pytest.fixture(scope="module")
def offline(browser):
    """A browser without a network."""
    context = browser.new_context(offline=True)
    context.set_default_timeout(60_000)
    yield context
    context.close()


@pytest.fixture
def lesson(offline, lesson_url):
    """Open a scene of the exported file; an error on the page fails the test."""
    pages, wrongs = [], []

    def open_it(scene: object = 1, width: int = 1440, height: int = 900):
        page = offline.new_page()
        pages.append(page)
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(reduced_motion="reduce")
        page.on("pageerror", lambda error: wrongs.append(str(error)))
        page.on("request", lambda r: r.url.startswith("file:") or wrongs.append(r.url))
        page.goto(f"{lesson_url}#learn/{scene}")
        page.wait_for_selector(".sbd-learn-question")
        return page

    yield open_it
    for page in pages:
        page.close()
    assert wrongs == []


def plain(text: str) -> str:
    """A scene's text without the marks of glossary words."""
    return re.sub(r"\[([^\]|]+)(?:\|[a-z]+)?\]", r"\1", text)


def question(page):
    return page.locator(".sbd-learn-question")


def answer(page):
    return page.locator(".sbd-learn-answer")


def drag(page, locator, part: float):
    box = locator.bounding_box()
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 3, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * part, middle, steps=6)
    page.mouse.up()


def test_keys_and_clicks_walk_every_scene_and_the_browser_goes_back(lesson):
    page = lesson()
    for number, scene in enumerate(scenes(), 1):
        expect(question(page)).to_have_text(scene["question"])
        assert serious(page) == []
        assert page.url.endswith(f"#learn/{scene['address']}") or number == 1
        if number < LAST:  # the last has no question to answer
            expect(answer(page)).to_be_empty()
        if number % 2:
            page.keyboard.press("ArrowRight")
        elif number < LAST:
            page.get_by_role("button", name="Show me").click()
        expect(answer(page)).to_have_text(plain(scene["answer"]))
        expect(page.locator(".sbd-learn-why")).to_have_text(plain(scene.get("why", "")))
        if number < LAST:
            expect(page.locator(".sbd-learn-act")).to_be_hidden()
            following = page.get_by_role("button", name="Next", exact=True)
            box = following.bounding_box()
            assert box["y"] + box["height"] <= WINDOW_HEIGHT, scene["title"]
            page.keyboard.press("ArrowRight") if number % 2 else following.click()
    page.get_by_role("button", name="Scene 4: The budget").click()
    expect(question(page)).to_have_text(scenes()[3]["question"])
    page.go_back()
    for key, index in (("ArrowLeft", -2), ("Home", 0), ("End", -1)):
        page.keyboard.press(key)
        expect(question(page)).to_have_text(scenes()[index]["question"])
        expect(answer(page)).to_have_text(plain(scenes()[index]["answer"]))  # still answered


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


def test_gamma_dragged_in_a_lecture_has_a_whole_handle_and_leaves_the_arrows_to_the_scenes(lesson):
    page = lesson(4, 1920, 1080)
    page.keyboard.press("l")
    grip = page.locator(".sbd-gamma-grip").bounding_box()
    assert grip["x"] >= page.locator(".sbd-learn-stage").bounding_box()["x"]
    drag(page, page.get_by_role("slider"), 1)
    expect(answer(page)).to_have_text(plain(scenes()[3]["answer"]))
    page.keyboard.press("ArrowRight")
    expect(question(page)).to_have_text(scenes()[4]["question"])


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
    order = learn_runs().choices.order
    page = lesson("out-of-order")
    given, empty = (page.locator(f".sbd-sudoku-cell{look}") for look in (".is-given", EMPTY))
    said = page.locator(".sbd-learn-order-side .sbd-learn-yours")
    left = page.locator(".sbd-learn-open")
    assert left.count() == bool(order.settled_by)
    if order.settled_by:
        expect(left).to_have_text(f"{' or '.join(order.candidates)}?")
    given.first.click()
    expect(said).to_contain_text("is given: choose an empty cell.")
    expect(answer(page)).to_be_empty()
    cell = empty.nth(1)
    name = re.match(r"Row \d, column \d", cell.get_attribute("aria-label"))[0].lower()
    cell.click()
    expect(said).to_contain_text(f"You chose {name.replace(',', '')}: it came in forward pass")
    came = re.compile(r"came in forward pass \d+ \((the last that|forward pass \d+) fills")
    expect(said).to_contain_text(came)
    expect(page.locator(".sbd-sudoku-cell[data-chosen]")).to_have_count(1)
    expect(answer(page)).not_to_be_empty()
    expect(left.filter(visible=True)).to_have_count(0)
    assert not given.locator(".sbd-sudoku-pass:visible").count()
    passes = set(page.locator(".sbd-sudoku-pass").all_inner_texts()) - {""}
    assert passes
    assert all(number.isdigit() for number in passes), passes
    look = "node => [getComputedStyle(node).backgroundColor, getComputedStyle(node).fontWeight]"
    looks = (each.first.evaluate(look) for each in (given, empty))
    assert all(a != b for a, b in zip(*looks, strict=True))


def test_tiles_say_their_forward_pass_on_a_phone_too_and_one_more_guess_is_counted(lesson):
    page = lesson("the-bound", 390, 844)
    page.keyboard.press("ArrowRight")
    kept = page.locator(".sbd-tile.is-new .sbd-tile-pass")
    expect(kept.first).to_be_visible()
    number = learn_runs().choices.bound_pass + 1
    assert set(kept.all_inner_texts()) == {f"pass {number}"}
    over = "all => all.some(node => node.scrollWidth > node.parentElement.clientWidth)"
    assert not kept.evaluate_all(over)
    expect(page.locator(".sbd-learn-sum")).to_contain_text(re.compile("more than|All are kept"))


def test_stepping_through_forward_passes_shows_what_the_cache_keeps(lesson):
    page = lesson("the-cache")
    expect(page.locator(".sbd-learn-stage")).to_contain_text("keeps two vectors of every")
    expect(answer(page)).to_be_empty()
    page.get_by_role("slider", name="Forward pass").focus()
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
    last = learn_runs().runs["text"]["sbd"].events[-1]
    # A last block of one forward pass has one riding along.
    riding = page.locator(".sbd-learn-block.is-riding")
    expect(riding).to_have_count(1 if last.num_causal else 0)


def test_a_file_without_a_model_explains_a_doubted_word_and_offers_no_decoding(lesson):
    page = lesson("your-turn")
    said, card = page.locator(".sbd-learn-yours-card"), page.locator(".sbd-learn-inspected")
    doubt = page.locator(".sbd-learn-doubt").last
    doubt.click()
    words = ("Guesses in forward pass", "Hindsight:", "Pin:", "Branch:")
    for word in (*words, doubt.text_content().strip()):
        expect(card).to_contain_text(word)
    for word in ("This file has no model inside", "python app.py"):
        expect(said).to_contain_text(word)
    expect(page.get_by_role("button", name="Decode it")).to_have_count(0)
    expect(said.get_by_role("textbox")).to_have_count(0)


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


def test_a_drafted_token_is_thrown_away(lesson):
    events, at = learn_runs().runs["verify"]["verify"].events, learn_runs().choices.check_pass
    draft, committed = events[at - 1].draft, events[at].committed
    num_accepted = next(n for n, token in enumerate(draft) if committed[n] != token)
    page = lesson("checking")
    news = page.locator(".sbd-learn-yours")
    page.locator(".sbd-tile:not(.is-draft)").last.click()
    expect(news).to_contain_text("That is not in the draft")
    expect(answer(page)).to_be_empty()
    page.locator(".sbd-tile.is-draft").nth(num_accepted).click()
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


def test_gamma_is_raised_until_the_story_breaks_where_show_me_stops_too(lesson):
    page = lesson("what-goes-wrong")
    verdict = page.locator(".sbd-learn-verdict")
    expect(verdict).to_contain_text("Holds")
    page.emulate_media(reduced_motion="no-preference")
    broken = next(edge for edge in learn_runs().choices.edges if not edge.is_right)
    page.get_by_role("button", name="Show me").click()
    words = re.compile(rf"^{broken.gamma:g} nats?$")
    expect(page.locator(".sbd-learn-slider-words")).to_have_text(words)
    page.wait_for_timeout(STEP_MS)
    expect(page.locator(".sbd-learn-slider-words")).to_have_text(words)
    expect(verdict).to_contain_text("Broken")
    drag(page, page.get_by_role("slider", name="γ"), 1)
    expect(page.locator(".sbd-learn-slider-words")).not_to_have_text(words)
    expect(verdict).to_contain_text("Broken")
    assert page.locator(".sbd-learn-clash sub").count() >= 2


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


def test_gamma_keeps_more_by_pointer_and_by_key_and_a_bar_says_the_same_entropy(lesson):
    page = lesson("the-bound")
    total, bars = page.locator(".sbd-learn-count"), page.locator(".sbd-tile-bar")
    levels = "all => all.map(node => node.style.getPropertyValue('--level'))"
    few, before = num_kept(total), bars.evaluate_all(levels)
    assert few >= 1
    assert max(map(float, before)) > 0.1
    drag(page, page.locator(".sbd-budget-track"), 0.9)
    expect(answer(page)).not_to_be_empty()
    painted(page)
    many = num_kept(total)
    assert many > few
    expect(page.locator(".sbd-tile.is-new")).to_have_count(many)
    page.get_by_role("slider").focus()
    said = total.text_content()
    page.keyboard.press("PageDown")
    expect(total).not_to_have_text(said)
    page.keyboard.press("End")
    expect(total).to_contain_text(EVERY_GUESS)
    assert bars.evaluate_all(levels) == before
