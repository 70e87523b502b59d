"""Secret: a string that shows itself only when asked by name."""

import hmac
from typing import final


@final
class Secret:
    """A key or password. Never appears in ``repr``, ``str``, an f-string, a traceback's locals or JSON."""

    __slots__ = ("_value",)

    def __init__(self, value: str = "") -> None:
        self._value = value

    def reveal(self) -> str:
        return self._value

    def __bool__(self) -> bool:
        return bool(self._value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and hmac.compare_digest(self._value.encode(), other._value.encode())

    def __hash__(self) -> int:
        return hash((Secret, self._value))

    def __repr__(self) -> str:
        return "Secret(hidden)" if self._value else "Secret()"

    def __reduce__(self) -> str:
        raise TypeError("a Secret is not pickled")
