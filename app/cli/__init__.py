"""The command line."""

from app.cli.commands import main as main
