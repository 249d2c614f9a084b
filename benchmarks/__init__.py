"""Comparisons with peers, each in one run."""
