"""What `core` raises when the caller is at fault, and the checks that raise it."""

from __future__ import annotations


class CoreError(ValueError):
    """Bad input; `field` is the dotted path of the option or the name of the column at fault."""

    code = "invalid"

    def __init__(self, message: str, field: str) -> None:
        super().__init__(message)
        self.field = field

    def __reduce__(self) -> tuple[type[CoreError], tuple[str, str]]:
        """As other processes get it, with both."""
        return type(self), (str(self), self.field)


class InvalidConfig(CoreError):
    """An option that makes no sense by itself or for this data."""

    code = "invalid_config"


class InvalidData(CoreError):
    """Columns that cannot be selected from: unknown, empty, constant."""

    code = "invalid_data"


class ScratchFault(OSError):
    """The disk that lends room to a run: full, away, or not what was written; no fault of data."""

    def __init__(self, message: str, number: int | None = None) -> None:
        super().__init__(message)
        self.errno = number


def require(condition: bool, field_name: str, sentence: str) -> None:
    """Refuse an option unless the condition holds; the sentence goes on after its name."""
    if not condition:
        raise InvalidConfig(f"{field_name} {sentence}", field_name)


def require_choice(value: object, field_name: str, choices: tuple[str, ...]) -> None:
    """Refuse all but the choices."""
    require(value in choices, field_name, f"must be one of {', '.join(choices)}, not {value!r}")


def require_int(value: object, field_name: str, low: int, high: int | None = None) -> None:
    """Refuse all but whole numbers of a range."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    inside = whole and value >= low and (high is None or value <= high)  # type: ignore[operator]
    span = f"of at least {low}" if high is None else f"from {low} to {high}"
    require(inside, field_name, f"must be a whole number {span}, not {value!r}")


def require_number(value: object, field_name: str, low: float, high: float = float("inf")) -> None:
    """Refuse all but numbers of a range."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    inside = number and low <= value <= high  # type: ignore[operator]
    require(inside, field_name, f"must be a number from {low:g} to {high:g}, not {value!r}")
