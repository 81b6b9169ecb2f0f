"""Errors that are the user's to mend: the command line prints their text and ends with exit status 2."""

from __future__ import annotations


class UserError(Exception):
    """hwlint could not do what was asked; the text says why and, where known, what to do."""


class UsageError(UserError):
    """A bad argument: a path that is not there, an unknown revision."""


class ConfigError(UserError):
    """A configuration, allowlist or baseline file that does not say what it must."""
