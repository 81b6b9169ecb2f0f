"""The runner of ``hwlint verify``: what runs inside the interpreter that has torch. Standard library only.

A package of its own, so that only its folder goes on ``PYTHONPATH`` there and nothing else of hwlint can be imported.
"""
