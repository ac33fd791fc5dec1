"""What default models do not guarantee for an operator (``left_open`` in its file); exact models do."""

from __future__ import annotations

LEFT_OPEN = {
    "edges": "Results of NaN or infinities in the contents, results that are not finite, and signs of zero",
    "tails": "Digits below a millionth of the largest element of the result; of a sigmoid, of 1, and of a swish, of "
    "the largest input",
    "indices": "Results of an index out of range; the run may fail",
    "lengths": "Results of a length above the number of steps",
    "regions": "Results of an empty or inverted region",
    "shifts": "Results of a shift by the width of the type or more",
    "masks": "Results of a BOOLEAN mask with numbers other than 0 and 1",
    "rows": "Results of FLOAT16 rows whose keys are all masked",
    "powers": "Results of 0 to the power of 0",
    "ranges": "Results that the output's integer type cannot hold, unless DirectML specifies them",
}
"""Descriptions of the words in the files."""
