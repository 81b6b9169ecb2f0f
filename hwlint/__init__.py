"""hwlint: moves PyTorch-style test suites off hardcoded devices, and keeps them off."""

__version__ = "0.1.0"
