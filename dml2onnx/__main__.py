"""``python -m dml2onnx``."""

import sys

from dml2onnx.cli import main

sys.exit(main())
