from __future__ import annotations

import threading

import pytest

from rag_core.batch.turns import in_turns, part


def test_work_goes_side_by_side_and_comes_back_in_order() -> None:
    meeting = threading.Barrier(3, timeout=10)

    def work(number: int) -> int:
        meeting.wait()  # ends only where three are at work at once
        return number * number

    assert list(in_turns([3, 1, 2], work, width=3)) == [9, 1, 4]


def test_one_at_a_time_stays_in_this_thread() -> None:
    threads = list(in_turns([1, 2, 3], lambda _: threading.get_ident(), width=1))
    assert set(threads) == {threading.get_ident()}


def test_after_an_error_nothing_further_begins() -> None:
    begun: list[int] = []
    failed = threading.Event()

    def work(number: int) -> int:
        begun.append(number)
        if number == 0:
            failed.set()
            raise OSError("gone")
        assert failed.wait(10)
        threading.Event().wait(0.2)
        return number

    with pytest.raises(OSError, match="gone"):
        list(in_turns(range(50), work, width=2))
    assert len(begun) < 10


def test_equal_questions_wait_for_the_first_and_those_that_need_a_model_for_one_another() -> None:
    together, alone = part(["a", "b", "A", "c"], [True, False, True, True], str.lower)
    assert (together, alone) == (["a", "c"], ["b", "A"])
