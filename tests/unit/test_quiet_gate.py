"""A dialog waits until the person has stopped typing."""

from hermes_tui.screens.quiet_gate import QuietGate


def test_open_until_somebody_types_and_again_a_second_later() -> None:
    clock = [100.0]
    gate = QuietGate(lambda: clock[0])
    waits = [gate.wait_s]
    gate.typed()
    waits.append(gate.wait_s)
    clock[0] = 100.5
    gate.typed()
    clock[0] = 101.25
    waits.append(gate.wait_s)
    assert not gate.open
    clock[0] = 101.5
    waits.append(gate.wait_s)
    assert waits == [0.0, 1.0, 0.25, 0.0]
    assert gate.open
