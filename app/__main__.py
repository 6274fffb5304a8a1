"""`python -m app` is `pith`."""

from app.cli import main

main()
