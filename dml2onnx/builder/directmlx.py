"""DirectMLX's functions that choose an operator by the builder's feature level or by their arguments.

Names, order and defaults of the arguments are DirectMLX's. Methods of the single operators are in
``dml2onnx/builder/operators``, numbered as in DirectML (``slice0`` for SLICE, ``slice1`` for SLICE1). If an argument
needs a newer operator than the feature level has, that operator is recorded, and a diagnostic reports it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import prod

from dml2onnx import arguments
from dml2onnx.builder import policies
from dml2onnx.builder.arguments import check_parts, converted, error_here, whole_numbers
from dml2onnx.builder.attributes import ActivationLike, PerDimension, WholeNumbers
from dml2onnx.builder.expression import Expression, Operand
from dml2onnx.builder.methods import is_dilated, is_usual, scaled, sizes_of, truth
from dml2onnx.builder.operands import axis_from_the_start
from dml2onnx.builder.operators import Operators
from dml2onnx.builder.operators.enumerators import (
    AxisDirection,
    DepthSpaceOrder,
    InterpolationMode,
    ReduceFunction,
)
from dml2onnx.builder.operators.results import MaxPoolingOutputs, RoiAlignGradOutputs, TopKOutputs
from dml2onnx.catalog import FeatureLevel
from dml2onnx.codes import building as codes
from dml2onnx.ir.operator import ScaleBias


class DirectMLX(Operators):
    """Methods with DirectMLX's names."""

    def _has(self, level: str) -> bool:
        return self.feature_level >= FeatureLevel(level)

    def _around(self, axis: int, input: object) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The sizes before and after one dimension of a tensor."""
        sizes = sizes_of(input)
        place = converted(partial(arguments.whole_number, least=None), axis_from_the_start(axis, len(sizes)), "axis")
        if not 0 <= place < max(len(sizes), 1):
            message = f"axis is {axis}, and the tensor has {len(sizes)} dimensions, counted from 0"
            raise error_here(codes.BAD_TENSOR, message, expected=f"0 to {len(sizes) - 1}", found=axis)
        return sizes[:place], sizes[place + 1 :]

    # --- Views --------------------------------------------------------------------------------------------------------

    def reshape(self, input: Expression, sizes: WholeNumbers, name: str | None = None) -> Expression:
        """The elements in row-major order with other sizes, one of which may be -1 for the remaining size.

        Packed memory is reinterpreted at no cost; other layouts are packed first by ELEMENT_WISE_IDENTITY.
        Diagnostic DML1808 if the numbers of elements differ.
        https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_buffer_tensor_desc
        """
        self._own(input, "input")
        argument = wanted = whole_numbers("sizes", sizes)
        known = prod(size for size in wanted if size != -1)
        if wanted.count(-1) == 1 and known > 0:
            wanted = tuple(input.desc.element_count // known if size == -1 else size for size in wanted)
        if any(size < 1 for size in wanted) or prod(wanted) != input.desc.element_count:
            count = input.desc.element_count
            message = f"sizes {list(input.sizes)} cannot become {list(argument)}"
            if wanted == argument and all(size >= 1 for size in wanted):
                message += f": {count} elements are not {prod(wanted)}"
            expected = f"{count} elements"
            raise error_here(codes.DIFFERENT_ELEMENT_COUNTS, message, expected=expected, found=list(argument))
        if input.strides is not None:
            with self.tensor_policy(policies.packed):
                input = self.identity(input, name=name)
        return self.reinterpret(input, sizes=wanted)

    # --- Element-wise and activations ---------------------------------------------------------------------------------

    def add(
        self, a: Operand, b: Operand, fused_activation: ActivationLike | None = None, name: str | None = None
    ) -> Expression:
        """``a + b``: ELEMENT_WISE_ADD, or ELEMENT_WISE_ADD1 with a fused activation.

        Args:
            a: Any sizes; the result has its sizes and data type.
            b: The sizes and data type of ``a``.
            fused_activation: Applied to the sum; FLOAT32 and FLOAT16 only.
            name: Of the node; the operator's own by default.

        https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_element_wise_add1_operator_desc
        """
        if fused_activation is None:
            return self.add0(a, b, name)
        return self.add1(a, b, fused_activation, name)

    def pow(
        self,
        input: Operand,
        exponent: Operand,
        scale_bias: ScaleBias | None = None,
        name: str | None = None,
    ) -> Expression:
        """``input ** exponent``: ELEMENT_WISE_CONSTANT_POW for a number, ELEMENT_WISE_POW for a tensor.

        Args:
            input: Any sizes; the result has its sizes and data type.
            exponent: A number, or a tensor of the sizes of ``input``.
            scale_bias: Applied to ``input`` first.
            name: Of the node; the operator's own by default.

        https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_element_wise_pow_operator_desc
        """
        if getattr(exponent, "ndim", 0):
            return self.pow0(input, exponent, scale_bias, name)
        return self.constant_pow(input, exponent, scale_bias, name)  # type: ignore[arg-type]  # no tensor

    def negate(self, input: Operand, name: str | None = None) -> Expression:
        """``-input``: ELEMENT_WISE_NEGATE, below feature level 5_0 ELEMENT_WISE_IDENTITY with scale -1.

        The result has the sizes and data type of ``input``.
        https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_element_wise_negate_operator_desc
        """
        if self._has("5_0"):
            return self.negate0(input, name)
        return self.identity(input, ScaleBias(-1.0, 0.0), name)

    def activation_softmax(
        self, input: Operand, axes: WholeNumbers | None = None, name: str | None = None
    ) -> Expression:
        """Exponentials that sum to 1: over ``axes`` (ACTIVATION_SOFTMAX1), by default as ACTIVATION_SOFTMAX does.

        The result has the sizes and data type of ``input``.
        https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_activation_softmax1_operator_desc
        """
        return self.activation_softmax0(input, name) if axes is None else self.activation_softmax1(input, axes, name)

    def activation_log_softmax(
        self, input: Operand, axes: WholeNumbers | None = None, name: str | None = None
    ) -> Expression:
        """The logarithm of softmax: over ``axes`` (ACTIVATION_LOG_SOFTMAX1), or as ACTIVATION_LOG_SOFTMAX does.

        The result has the sizes and data type of ``input``.
        https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_activation_log_softmax1_operator_desc
        """
        if axes is None:
            return self.activation_log_softmax0(input, name)
        return self.activation_log_softmax1(input, axes, name)

    def activation_hardmax(
        self, input: Operand, axes: WholeNumbers | None = None, name: str | None = None
    ) -> Expression:
        """1 at the first largest element, 0 elsewhere: over ``axes`` (ACTIVATION_HARDMAX1), or as ACTIVATION_HARDMAX.

        The result has the sizes and data type of ``input``.
        https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_activation_hardmax1_operator_desc
        """
        return self.activation_hardmax0(input, name) if axes is None else self.activation_hardmax1(input, axes, name)

    # --- Pooling ------------------------------------------------------------------------------------------------------

    def max_pooling(
        self,
        input: Operand,
        window_sizes: PerDimension,
        strides: PerDimension | None = None,
        start_padding: PerDimension | None = None,
        end_padding: PerDimension | None = None,
        dilations: PerDimension | None = None,
        output_indices: bool = False,
        output_sizes: WholeNumbers | None = None,
        name: str | None = None,
    ) -> MaxPoolingOutputs:
        """The maximum of each window: MAX_POOLING2 from feature level 2_1 on, MAX_POOLING1 at 2_0, before MAX_POOLING.

        Args:
            input: { BatchCount, ChannelCount, [Depth], Height, Width }.
            window_sizes: In elements, one for each spatial dimension or one for all, as are all lists.
            strides: Steps of the window; 1 by default, not the window's size.
            start_padding: 0 by default.
            end_padding: 0 by default.
            dilations: Steps inside of the window; 1 by default.
            output_indices: Whether the places of the maxima are computed, UINT32.
            output_sizes: The sizes of the result, if they are rounded up.
            name: Of the node; the operator's own by default.

        Returns:
            Values of the data type of ``input`` and sizes ``(input + paddings - window) // stride + 1``, and indices.

        https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_max_pooling2_operator_desc
        """
        window = (input, window_sizes, strides, start_padding, end_padding)
        if self._has("2_1") or is_dilated(dilations):
            return self.max_pooling2(*window, dilations, output_indices, output_sizes, name=name)
        if self._has("2_0") or truth(output_indices):
            return self.max_pooling1(*window, output_indices, output_sizes, name=name)
        return MaxPoolingOutputs(self.max_pooling0(*window, output_sizes, name=name), None)

    def average_pooling(
        self,
        input: Operand,
        strides: PerDimension | None,
        window_sizes: PerDimension,
        start_padding: PerDimension | None = None,
        end_padding: PerDimension | None = None,
        dilations: PerDimension | None = None,
        include_padding: bool = False,
        output_sizes: WholeNumbers | None = None,
        name: str | None = None,
    ) -> Expression:
        """The mean of each window: AVERAGE_POOLING1 from feature level 6_2 on, AVERAGE_POOLING before.

        Args:
            input: { BatchCount, ChannelCount, [Depth], Height, Width }.
            strides: Steps of the window, one for each spatial dimension, as are all lists; 1 for None.
            window_sizes: In elements.
            start_padding: 0 by default.
            end_padding: 0 by default.
            dilations: Steps inside of the window; 1 by default.
            include_padding: Whether padding counts as elements.
            output_sizes: The sizes of the result, if they are rounded up.
            name: Of the node; the operator's own by default.

        Returns:
            The data type of ``input`` and sizes ``(input + paddings - window) // stride + 1``.

        https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_average_pooling1_operator_desc
        """
        window = (input, strides, window_sizes, start_padding, end_padding)
        if self._has("6_2") or is_dilated(dilations):
            return self.average_pooling1(*window, dilations, include_padding, output_sizes, name)
        return self.average_pooling0(*window, include_padding, output_sizes, name)

    def roi_align(
        self,
        input: Operand,
        roi: Operand,
        batch_indices: Operand,
        reduction_function: ReduceFunction,
        interpolation_mode: InterpolationMode,
        spatial_scale_x: float,
        spatial_scale_y: float,
        input_pixel_offset: float,
        output_pixel_offset: float,
        out_of_bounds_input_value: float,
        minimum_samples_per_output: int,
        maximum_samples_per_output: int,
        align_regions_to_corners: bool,
        output_height: int,
        output_width: int,
        name: str | None = None,
    ) -> Expression:
        """The mean or maximum of samples of regions: ROI_ALIGN1; arguments as of :meth:`roi_align1`.

        Returns { rows of ``roi``, channels of ``input``, ``output_height``, ``output_width`` }.
        https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_roi_align1_operator_desc
        """
        regions = next(iter(sizes_of(roi)[-2:-1]), 1)
        channels = next(iter(sizes_of(input)[1:2]), 1)
        return self.roi_align1(
            input,
            roi,
            batch_indices,
            (regions, channels, output_height, output_width),
            reduction_function,
            interpolation_mode,
            spatial_scale_x,
            spatial_scale_y,
            input_pixel_offset,
            output_pixel_offset,
            out_of_bounds_input_value,
            minimum_samples_per_output,
            maximum_samples_per_output,
            align_regions_to_corners,
            name,
        )

    def roi_align_grad(
        self,
        input: Operand | None,
        input_gradient: Operand,
        roi: Operand,
        batch_indices: Operand,
        reduction_function: ReduceFunction,
        interpolation_mode: InterpolationMode,
        spatial_scale_x: float,
        spatial_scale_y: float,
        input_pixel_offset: float,
        output_pixel_offset: float,
        minimum_samples_per_output: int,
        maximum_samples_per_output: int,
        align_regions_to_corners: bool,
        batch_size: int,
        image_height: int,
        image_width: int,
        compute_output_gradient: bool,
        compute_output_roi_gradient: bool,
        name: str | None = None,
    ) -> RoiAlignGradOutputs:
        """Gradients of ROI_ALIGN1: ROI_ALIGN_GRAD; arguments as of :meth:`roi_align_grad0`.

        The gradient has sizes { ``batch_size``, channels of ``input_gradient``, ``image_height``, ``image_width`` },
        that of the regions the sizes and data type of ``roi``.
        https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_roi_align_grad_operator_desc
        """
        channels = next(iter(sizes_of(input_gradient)[1:2]), 1)
        return self.roi_align_grad0(
            input_gradient,
            roi,
            batch_indices,
            reduction_function,
            interpolation_mode,
            spatial_scale_x,
            spatial_scale_y,
            input_pixel_offset,
            output_pixel_offset,
            minimum_samples_per_output,
            maximum_samples_per_output,
            align_regions_to_corners,
            input,
            compute_output_gradient,
            compute_output_roi_gradient,
            (batch_size, channels, image_height, image_width) if truth(compute_output_gradient) else None,
            name,
        )

    # --- Movement and order -------------------------------------------------------------------------------------------

    def slice(
        self,
        input: Operand,
        input_window_offsets: WholeNumbers,
        input_window_sizes: WholeNumbers,
        input_window_strides: WholeNumbers,
        name: str | None = None,
    ) -> Expression:
        """Elements of a window: SLICE1, below feature level 2_1 SLICE.

        Args:
            input: Any sizes; the lists have one number for each dimension.
            input_window_offsets: Where the window starts, in elements.
            input_window_sizes: How many elements it spans.
            input_window_strides: Steps inside of it; negative ones go from its end to its start.
            name: Of the node; the operator's own by default.

        Returns:
            The data type of ``input`` and sizes ``(window_size - 1) // abs(window_stride) + 1``.

        https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_slice1_operator_desc
        """
        steps = () if self._has("2_1") else whole_numbers("input_window_strides", input_window_strides)
        if self._has("2_1") or any(step < 1 for step in steps):
            return self.slice1(input, input_window_offsets, input_window_sizes, input_window_strides, name=name)
        # SLICE counts the elements of the result, SLICE1 those that the window spans
        spans = zip(whole_numbers("input_window_sizes", input_window_sizes), steps, strict=False)
        taken = [(size - 1) // step + 1 for size, step in spans]
        return self.slice0(input, input_window_offsets, taken, input_window_strides, name=name)

    def split(
        self, input: Operand, axis: int, output_axis_sizes: WholeNumbers, name: str | None = None
    ) -> tuple[Expression, ...]:
        """Parts of a tensor along an axis: SPLIT.

        Args:
            input: Any sizes.
            axis: A dimension, from 0, or counted from the end: -1 is the last.
            output_axis_sizes: The size of each part in that dimension; together that of ``input``.
            name: Of the node; the operator's own by default.

        Returns:
            One tensor for each part, of the data type of ``input``.

        https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_split_operator_desc
        """
        before, after = self._around(axis, input)
        check_parts(output_axis_sizes, next(iter(sizes_of(input)[len(before) :]), 0))
        sizes = [(*before, size, *after) for size in whole_numbers("output_axis_sizes", output_axis_sizes)]
        return self.split0(input, sizes, axis, name)

    def one_hot(
        self, indices: Operand, values: Operand, output_length: int, axis: int, name: str | None = None
    ) -> Expression:
        """A vector for each index, with a different value at its position: ONE_HOT.

        Args:
            indices: Any sizes, with 1 at ``axis``.
            values: The value elsewhere, and the value at the position.
            output_length: The length of the vectors.
            axis: A dimension, from 0, or counted from the end: -1 is the last.
            name: Of the node; the operator's own by default.

        Returns:
            The sizes of ``indices`` with ``output_length`` at ``axis``; the data type of ``values``.

        https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_one_hot_operator_desc
        """
        before, after = self._around(axis, indices)
        return self.one_hot0(indices, values, (*before, output_length, *after), axis, name)

    def top_k(
        self, input: Operand, axis: int, k: int, axis_direction: AxisDirection, name: str | None = None
    ) -> TopKOutputs:
        """The ``k`` largest (DECREASING) or smallest elements along an axis: TOP_K1, below feature level 2_1 TOP_K.

        Returns values of the data type of ``input`` and UINT32 indices, both with size ``k`` at ``axis``. (DirectMLX
        itself gives the last dimension that size, whatever the axis.)
        https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_top_k1_operator_desc
        """
        if self._has("2_1") or not is_usual(axis_direction, "DECREASING"):
            return self.top_k1(input, axis, k, axis_direction, name=name)
        return self.top_k0(input, axis, k, name=name)

    def gather_nd(
        self,
        input: Operand,
        indices: Operand,
        input_dimension_count: int,
        indices_dimension_count: int,
        batch_dimension_count: int = 0,
        name: str | None = None,
    ) -> Expression:
        """Blocks at index tuples: GATHER_ND1, below feature level 3_0 GATHER_ND; arguments as of :meth:`gather_nd1`.

        The result has the rank and data type of ``input``.
        https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_gather_nd1_operator_desc
        """
        counts = (input_dimension_count, indices_dimension_count)
        if self._has("3_0") or not is_usual(batch_dimension_count, 0):
            return self.gather_nd1(input, indices, *counts, batch_dimension_count, name)
        return self.gather_nd0(input, indices, *counts, name)

    def space_to_depth(
        self,
        input: Operand,
        block_size: int,
        order: DepthSpaceOrder = "DEPTH_COLUMN_ROW",
        name: str | None = None,
    ) -> Expression:
        """Blocks of pixels become channels: SPACE_TO_DEPTH1, below feature level 2_1 SPACE_TO_DEPTH.

        { N, C, H, W } gives { N, C * block_size², H / block_size, W / block_size }.
        https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_space_to_depth1_operator_desc
        """
        if self._has("2_1") or not is_usual(order, "DEPTH_COLUMN_ROW"):
            return self.space_to_depth1(input, block_size, order, name)
        return self.space_to_depth0(input, block_size, name)

    def depth_to_space(
        self,
        input: Operand,
        block_size: int,
        order: DepthSpaceOrder = "DEPTH_COLUMN_ROW",
        name: str | None = None,
    ) -> Expression:
        """Channels become blocks of pixels: DEPTH_TO_SPACE1, below feature level 2_1 DEPTH_TO_SPACE.

        { N, C, H, W } gives { N, C / block_size², H * block_size, W * block_size }.
        https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_depth_to_space1_operator_desc
        """
        if self._has("2_1") or not is_usual(order, "DEPTH_COLUMN_ROW"):
            return self.depth_to_space1(input, block_size, order, name)
        return self.depth_to_space0(input, block_size, name)

    def resample(
        self,
        input: Operand,
        output_sizes: WholeNumbers | None = None,
        mode: InterpolationMode = "NEAREST_NEIGHBOR",
        rounding_direction: AxisDirection = "INCREASING",
        scales: Sequence[float] | None = None,
        input_pixel_offsets: Sequence[float] | None = None,
        output_pixel_offsets: Sequence[float] | None = None,
        antialiased: bool = False,
        name: str | None = None,
    ) -> Expression:
        """Resizing by interpolation: RESAMPLE3 from feature level 6_4 on, RESAMPLE2 from 5_1 on, before RESAMPLE1.

        Give ``output_sizes`` or ``scales``, or both.

        Args:
            input: Any sizes; the lists have one number for each dimension.
            output_sizes: The sizes of the result; input sizes times ``scales``, rounded down, by default.
            mode: The interpolation mode.
            rounding_direction: The neighbour that halves are rounded to; from 5_1 on.
            scales: Factors; output sizes divided by input sizes by default.
            input_pixel_offsets: Added before scaling; 0.5 by default.
            output_pixel_offsets: Added after scaling; -0.5 by default.
            antialiased: Whether downsampling averages; from 6_4 on.
            name: Of the node; the operator's own by default.

        https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_resample3_operator_desc
        """
        if output_sizes is None:
            output_sizes = scaled(sizes_of(input), scales)
        lists = (scales, input_pixel_offsets, output_pixel_offsets)
        if self._has("6_4") or truth(antialiased):
            return self.resample3(input, output_sizes, mode, rounding_direction, *lists, antialiased, name)
        if self._has("5_1") or not is_usual(rounding_direction, "INCREASING"):
            return self.resample2(input, output_sizes, mode, rounding_direction, *lists, name)
        return self.resample1(input, output_sizes, mode, *lists, name)

    # --- Normalization ------------------------------------------------------------------------------------------------

    def mean_variance_normalization(
        self,
        input: Operand,
        scale: Operand | None = None,
        bias: Operand | None = None,
        axes: WholeNumbers | None = None,
        normalize_variance: bool = True,
        normalize_mean: bool = True,
        epsilon: float = 1e-5,
        fused_activation: ActivationLike | None = None,
        name: str | None = None,
    ) -> Expression:
        """Mean 0 and variance 1 over ``axes``: MEAN_VARIANCE_NORMALIZATION2, below feature level 6_3 ...1.

        Args:
            input: Any sizes; the result has its sizes and data type.
            scale: Multiplied with the result.
            bias: Added to the result.
            axes: Dimensions, from 0; all but batch and channels by default.
            normalize_variance: Whether to divide by the standard deviation.
            normalize_mean: Whether to subtract the mean; the order of the two is DirectMLX's.
            epsilon: Added to the variance.
            fused_activation: Applied to the result.
            name: Of the node; the operator's own by default.

        https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_mean_variance_normalization2_operator_desc
        """
        if axes is None:
            axes = range(min(2, len(sizes_of(input)) - 1), len(sizes_of(input)))
        if self._has("6_3") or not truth(normalize_mean):
            return self.mean_variance_normalization2(
                input, scale, bias, axes, normalize_mean, normalize_variance, epsilon, fused_activation, name
            )
        return self.mean_variance_normalization1(
            input, scale, bias, axes, normalize_variance, epsilon, fused_activation, name
        )
