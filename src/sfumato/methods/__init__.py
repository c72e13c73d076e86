"""Algorithms that turn a dataset into a release."""
