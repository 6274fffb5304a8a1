"""What `core` raises when the caller is at fault."""


class CoreError(ValueError):
    """Bad input; `field` is the dotted path of the option or the name of the column at fault."""

    code = "invalid"

    def __init__(self, message: str, field: str) -> None:
        super().__init__(message)
        self.field = field


class InvalidConfig(CoreError):
    """An option that makes no sense by itself or for this data."""

    code = "invalid_config"


class InvalidData(CoreError):
    """Columns that cannot be selected from: unknown, empty, constant, infinite."""

    code = "invalid_data"
