"""Exit codes of ``dml2onnx``; 0 is success."""

FINDINGS = 1
UNREADABLE = 2
BROKEN_PIPE = 128 + 13
"""The exit code that shells report for SIGPIPE."""
INTERRUPTED = 128 + 2
"""The exit code that shells report for SIGINT."""
