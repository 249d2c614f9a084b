"""Structure-aware fuzzing: valid files are changed in one place or several, and read.

`python -m tests.fuzz --minutes 10 --target counts` runs as long as one likes; tests/test_fuzz.py runs each
target for a second or two.
"""
