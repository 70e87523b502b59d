"""Bindings made from the table of actions."""

from textual.binding import Binding, BindingType

from hermes_tui import actions
from hermes_tui.actions import Place


def bindings_for(place: Place, *, priority: bool = False, without: frozenset[str] = frozenset()) -> list[BindingType]:
    """Return a Binding for every action of ``place`` that has keys; each calls ``action_do`` with the action's id.

    The binding's id is the action's, so that ``App.set_keymap`` can give it other keys.
    """
    return [
        Binding(
            ",".join(each.keys),
            f"do('{each.id}')",
            each.title,
            show=False,
            priority=priority,
            tooltip=each.description,
            id=each.id,
        )
        for each in actions.in_place(place)
        if each.keys and each.id not in without
    ]
