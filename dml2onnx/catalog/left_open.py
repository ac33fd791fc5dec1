"""What default models do not guarantee for an operator (``left_open`` in its file); exact models do."""

from __future__ import annotations

LEFT_OPEN = {
    "edges": "What follows from NaN or an infinity in the contents, results that are not finite, and signs of zero",
    "tails": "Digits below a millionth of the largest element of the result; of a sigmoid, of 1, and of a swish, of "
    "the largest input",
    "indices": "What an index out of range gives; the run may fail",
    "lengths": "What a length above the number of steps gives",
    "regions": "What an empty or inverted region gives",
    "shifts": "What a shift by the width of the type or more gives",
    "masks": "What a BOOLEAN mask of other numbers than 0 and 1 gives",
    "rows": "What FLOAT16 rows give of which a mask takes away every key",
    "powers": "What an exponent of 0 gives where the base is 0",
    "ranges": "What stands for a number that the output's integer type does not hold, where DirectML does not say it",
}
"""Descriptions of the words in the files."""
