# Owner(s): ["module: sample"]
"""Tests that need no device at all. One class says so, the other does not say anything."""

from torch.testing._internal.common_utils import HardwareClassification, run_tests, TestCase


def parse(text):
    return dict(part.split("=") for part in text.split(",") if part)


class OptionsTest(TestCase):
    """Tagged: runs once, on whatever host there is."""

    hw_classification = HardwareClassification.GENERIC

    def test_empty(self):
        self.assertEqual(parse(""), {})

    def test_pairs(self):
        self.assertEqual(parse("a=1,b=2"), {"a": "1", "b": "2"})


class DefaultsTest(TestCase):
    def test_later_wins(self):
        self.assertEqual(parse("a=1,a=2"), {"a": "2"})


if __name__ == "__main__":
    run_tests()
