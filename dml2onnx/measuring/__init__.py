"""Times models: several models, or one model in several ways."""

from dml2onnx.measuring.measurement import Measurement, MeasuringPlan, measure
from dml2onnx.measuring.subjects import MeasuredModel, Way, of_model, of_other

__all__ = ["MeasuredModel", "Measurement", "MeasuringPlan", "Way", "measure", "of_model", "of_other"]
