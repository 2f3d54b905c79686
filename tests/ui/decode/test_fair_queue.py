"""The line before the model: who is next, who is let in, whose turn is over."""

import random
import threading

import pytest

from ui.decode.fair_queue import MAX_PLACES, FairQueue, QueueFull


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def line(max_turn=70.0):
    clock = Clock()
    return FairQueue(max_turn, clock=clock), clock


def test_the_line_is_first_come_and_leaving_moves_it():
    queue, _ = line()
    first, second, third = (queue.join(name) for name in "abc")
    assert [queue.num_ahead(ticket) for ticket in (first, second, third)] == [0, 1, 2]
    queue.leave(second)
    queue.leave(second)
    assert queue.num_ahead(third) == 1
    queue.leave(first)
    assert queue.num_ahead(third) == 0


def test_a_turn_that_is_too_long_is_over():
    queue, clock = line(max_turn=10)
    queue.join()
    second = queue.join()
    clock.now = 9.0
    assert queue.num_ahead(second) == 1
    clock.now = 11.0
    assert queue.num_ahead(second) == 0


def test_turns_go_round_the_clients():
    """Five of one client, then one of each of two others: those come after the first two."""
    queue, _ = line()
    greedy = [queue.join("greedy") for _ in range(5)]
    anna, bert = queue.join("anna"), queue.join("bert")
    order = sorted([*greedy, anna, bert], key=queue.num_ahead)
    assert order == [greedy[0], anna, bert, *greedy[1:]] or order == [
        greedy[0], greedy[1], anna, bert, *greedy[2:],
    ]  # fmt: skip


def test_nobody_starves_behind_newcomers():
    queue, _ = line()
    mine = [queue.join("me") for _ in range(3)]
    for number in range(40):
        queue.join(f"new {number % 7}")
        first = next(ticket for ticket in queue._line if queue.num_ahead(ticket) == 0)
        queue.leave(first)
    assert not set(mine) & set(queue._line)


def test_who_finds_no_place_is_refused_at_the_door_in_our_words():
    queue, _ = line()
    for number in range(MAX_PLACES):
        queue.join(f"visitor {number}")
    with pytest.raises(QueueFull, match=f"The page is full: {MAX_PLACES} runs are in line."):
        queue.join("late")


def test_every_ticket_gets_one_turn_whatever_the_order_of_coming_and_going():
    rng = random.Random(4)
    queue, clock = line()
    waiting, served = [], []
    for _ in range(2000):
        clock.now += 0.05
        if rng.random() < 0.5 and len(waiting) < 20:
            waiting.append(queue.join(rng.choice("abc")))
        elif waiting:
            places = sorted(queue.num_ahead(ticket) for ticket in waiting)
            assert places == list(range(len(waiting)))
            ticket = min(waiting, key=queue.num_ahead) if rng.random() < 0.8 else waiting[-1]
            served.append(ticket)
            waiting.remove(ticket)
            queue.leave(ticket)
    assert len(set(served)) == len(served)


def test_who_waits_is_called_when_the_line_moves():
    queue = FairQueue(70)
    first, second = queue.join("a"), queue.join("b")
    resting = threading.Thread(target=queue.wait_for_move, args=[second, 1000], daemon=True)
    resting.start()
    queue.leave(first)
    resting.join(60)
    assert not resting.is_alive()
    assert queue.num_ahead(second) == 0


def test_one_address_cannot_take_every_place() -> None:
    queue = FairQueue(60.0, max_places_each=3)
    first, *_ = (queue.join("a") for _ in range(3))
    with pytest.raises(QueueFull, match="3 runs of your address are still in line"):
        queue.join("a")
    with queue.place("b"):
        assert len(queue._line) == 4
    assert len(queue._line) == 3
    queue.leave(first)
    queue.join("a")
