"""Where names stand beside the marks of a picture, so that they cover neither one another nor a mark. Pixels, from the
top left; knows nothing of what is drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence

DOWN = (-14, 3, -28, 17, -42, 31, -56, 45, -70, 59, -84, 73, -98, 87)  # below a mark, where a name may begin
LETTER, LINE, MARK, BESIDE = 6.4, 12, 6, 9
Box = tuple[float, float, float, float]  # left, top, right, bottom


def places(marks: Sequence[tuple[float, float]], names: Sequence[str], height: float) -> list[tuple[float, float]]:
    """For each mark the left end and the middle line of its name, within the picture's height; where every place is
    taken, the first.

    >>> places([(0, 50), (0, 50)], ["a", "b"], 100)
    [(9, 42.0), (9, 59.0)]
    """
    boxes: list[Box] = [(x - MARK, y - MARK, x + MARK, y + MARK) for x, y in marks]
    found = []
    for (x, y), name in zip(marks, names, strict=True):
        left, right = x + BESIDE, x + BESIDE + LETTER * len(name)
        wanted: list[Box] = [(left, y + down, right, y + down + LINE) for down in DOWN]
        inside = [one for one in wanted if one[1] >= -LINE and one[3] <= height] or wanted
        box = next((one for one in inside if not any(map(over(one), boxes))), inside[0])
        boxes.append(box)
        found.append((box[0], box[1] + LINE / 2))
    return found


def over(one: Box) -> Callable[[Box], bool]:
    """Whether a box lies over this one.

    >>> over((0, 0, 10, 10))((5, 5, 15, 15)), over((0, 0, 10, 10))((10, 0, 20, 10))
    (True, False)
    """
    return lambda other: one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
