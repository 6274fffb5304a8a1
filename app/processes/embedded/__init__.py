"""The whole service on one machine: what docker-compose.yml starts, started by `pith serve`."""


class StartError(Exception):
    """Why the service does not start, in a sentence."""
