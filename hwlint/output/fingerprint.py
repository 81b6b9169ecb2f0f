"""A finding's identity as one short string."""

from __future__ import annotations

from hashlib import blake2b

from hwlint.findings import Finding


def fingerprint(finding: Finding) -> str:
    """The same for the same finding when lines move; findings of one symbol that nothing tells apart share it."""
    text = "\0".join(finding.fingerprint)
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
