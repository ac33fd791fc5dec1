"""One value for all that is known of a model, and what renders it: JSON, a page to look at, a drawing.

``gather`` asks checks, compiler, verification and runtime; ``records`` says what a report holds; ``html`` and ``svg``
draw it, both from the positions that ``layout`` computes once.
"""

from dml2onnx.report.gathering import gather
from dml2onnx.report.records import MARK, Report, as_json

__all__ = ["MARK", "Report", "as_json", "gather"]
