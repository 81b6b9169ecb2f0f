"""A stand-in for torch: just enough of it for the runner's own tests, which then need no real one."""

__version__ = "0.0 (made up)"
