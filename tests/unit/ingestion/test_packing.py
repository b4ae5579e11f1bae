"""Which chunks are packed, and when."""

from __future__ import annotations

from ingestion.packing import LEAST_UNPACKED, MOST_CHUNKS, Packing, SegmentSize, plan_packing


def sizes(*chunks: int, gone: dict[int, int] | None = None) -> list[SegmentSize]:
    made, at = [], 0
    for number, count in enumerate(chunks, start=1):
        made.append(SegmentSize(number, at + 1, at + count, count, (gone or {}).get(number, 0)))
        at += count
    return made


def test_few_chunks_are_left_as_they_are() -> None:
    assert plan_packing([], LEAST_UNPACKED - 1) is None
    assert plan_packing(sizes(10_000), LEAST_UNPACKED - 1) is None


def test_the_first_segment_takes_everything() -> None:
    packing = plan_packing([], 5_000)
    assert packing is not None
    assert (packing.after, packing.replaced) == (0, ())


def test_a_small_segment_is_taken_in_and_a_large_one_is_not() -> None:
    packing = plan_packing(sizes(20_000, 3_000), 2_000)
    assert packing is not None
    assert (packing.after, packing.replaced) == (20_000, (2,))


def test_a_segment_never_grows_past_what_positions_can_count() -> None:
    packing = plan_packing(sizes(20_000), MOST_CHUNKS - 20_000 + 1)
    assert packing is not None
    assert packing.replaced == ()


def test_a_segment_that_lost_much_is_packed_again_in_its_place() -> None:
    assert plan_packing(sizes(4_000, 8_000, 16_000, gone={2: 2_001}), 0) == Packing(4_000, 12_000, (2,))
    assert plan_packing(sizes(4_000, 8_000, 16_000, gone={2: 2_000}), 0) is None


def test_a_posting_is_packed_a_logarithmic_number_of_times() -> None:
    """Thirty-two ingests of 2,000 chunks: no chunk is packed more than five times, the segments stay few."""
    segments: list[list[int]] = []
    packed = [0] * 32
    for step in range(32):
        described = sizes(*(len(members) * 2_000 for members in segments))
        packing = plan_packing(described, 2_000)
        assert packing is not None
        kept = [members for number, members in enumerate(segments, start=1) if number not in packing.replaced]
        taken = [member for number in packing.replaced for member in segments[number - 1]]
        segments = [*kept, [*taken, step]]
        for member in segments[-1]:
            packed[member] += 1
    assert max(packed) <= 5
    assert len(segments) <= 6
