"""The state of a suite at many commits, and what its course says."""
