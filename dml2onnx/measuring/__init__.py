"""Times models: several models, or one model in several ways."""

from dml2onnx.measuring.measurement import Measurement, Plan, measure
from dml2onnx.measuring.subjects import Subject, Way, of_model, of_other

__all__ = ["Measurement", "Plan", "Subject", "Way", "measure", "of_model", "of_other"]
