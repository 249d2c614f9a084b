"""`python -m termsieve`: the command line without its script."""

from termsieve.cli import main

main()
