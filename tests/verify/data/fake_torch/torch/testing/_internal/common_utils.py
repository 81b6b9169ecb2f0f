import unittest

TestCase = unittest.TestCase


def run_tests():
    unittest.main()
