"""A desk without threads: it keeps the clock still and writes down what a dialog tells it."""


class FakeDesk:
    def __init__(self, remaining_s: float | None = 60.0) -> None:
        self.remaining_s = remaining_s
        self.told: list[tuple[str, object]] = []

    def shown(self, inquiry_id: str) -> None:
        self.told.append(("shown", inquiry_id))

    def hold(self, inquiry_id: str) -> None:
        self.told.append(("hold", inquiry_id))

    def extend(self, inquiry_id: str, seconds: float | None) -> None:
        self.told.append(("extend", seconds))
        self.remaining_s = None if seconds is None or self.remaining_s is None else self.remaining_s + seconds

    def remaining(self, inquiry_id: str) -> float | None:
        return self.remaining_s

    @property
    def verbs(self) -> list[str]:
        return [verb for verb, _ in self.told]
