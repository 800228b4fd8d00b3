"""`python -m featuremask`."""

from featuremask.cli import main

main()
