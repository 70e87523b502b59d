"""The director of the demo: from a conversation to the next answer. It keeps no state; the conversation has it all."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from hermes_tui.models.demo_scenes import CHILD_MARK, SCENES, Scene, play_child
from hermes_tui.models.demo_turn import Json, Say, Turn, results_after, text_of

_INTRO = (
    "Hello. I am **not an AI**: I am a script that ships with hermes-tui and stands in for a model, so that you can "
    "look around offline. The program around me is the real one, and so are the tools; they work in a throw-away "
    "folder, `{folder}`.\n\n"
)
_HELP = (
    "I am a script and understand these words:\n\n| type | to see |\n| --- | --- |\n{rows}\n"
    "| `next` | the next of them |\n| `again` | the same once more |\n| `tour` | all from the beginning |\n\n"
    "To work with a real model, set a key or pick a local server with `/model`."
)
_UNKNOWN = "I am a script, not an AI, so I cannot make anything of that. "
_THE_END = "That was the last scene. Type `again`, the name of any scene, or `help`; `/model` sets up a real model."

_WORDS = {
    "help": ("help", "?", "commands", "scenes"),
    "again": ("again", "repeat", "once more", "retry"),
    "next": ("next", "go on", "continue", "yes", "ok", "okay", "y", "more", "sure", "go"),
    "tour": ("tour", "start", "start over", "demo", "everything", "all"),
}


@dataclass(slots=True)
class _Place:
    """Where the conversation is, after reading some of it."""

    scene: Scene | None = None
    answer: str = ""
    """Instead of a scene: ``help`` or ``unknown``."""
    begun_at: int = 0
    """The message that began it."""
    greeted: bool = False
    """Whether the newest scene is the first of all."""
    steering: tuple[str, ...] = ()


def next_answer(messages: Sequence[Json], tools: Sequence[Json], folder: str) -> Say:
    """Return what the script says next. ``messages`` and ``tools`` are those of a chat request."""
    names = frozenset(str(tool["function"]["name"]) for tool in tools)
    goal = _goal(messages)
    if goal:
        return play_child(_turn(messages, _Place(), names, folder), goal)
    place = _find_place(messages)
    if place.answer == "help":
        return Say(_help())
    if place.answer == "unknown" or place.scene is None:
        return Say(_UNKNOWN + _help())
    turn = _turn(messages, place, names, folder)
    said = _play(place.scene, turn)
    heard = "".join(
        f"(You typed “{text[:80]}” while this ran: noted, but a script goes on as written.)\n\n"
        for text in turn.steering
    )
    intro = _INTRO.format(folder=folder) if place.greeted and turn.step == 0 else ""
    return replace(said, text=f"{intro}{heard}{said.text}")


def _play(scene: Scene, turn: Turn) -> Say:
    if scene.tool and scene.tool not in turn.tools:
        where = "It may be switched off in the list of toolsets on the left, or not be part of this version yet."
        return Say(
            f"The scene `{scene.name}` needs the tool `{scene.tool}`, which I was not given. {where}\n\n{turn.ended}"
        )
    return scene.play(turn)


def _turn(messages: Sequence[Json], place: _Place, tools: frozenset[str], folder: str) -> Turn:
    step = sum(message["role"] == "assistant" for message in messages[place.begun_at :])
    return Turn(
        step=step,
        results=results_after(messages[place.begun_at :]),
        tools=tools,
        folder=folder,
        ended=_ended(place.scene),
        steering=place.steering,
    )


def _goal(messages: Sequence[Json]) -> str:
    """The goal of a child agent, from before its first answer; empty in the person's own conversation."""
    for message in messages:
        if message["role"] == "assistant":
            break
        if CHILD_MARK in (text := text_of(message)):
            return text[text.index(CHILD_MARK) :].split("\n")[0]
    return ""


def _find_place(messages: Sequence[Json]) -> _Place:
    """Read the person's messages in their order, as each may refer to the scene before."""
    place = _Place()
    previous: Json = {"role": "system"}
    for position, message in enumerate(messages):
        if message["role"] == "user":
            _hear(place, text_of(message), position, steering=_runs_on(previous))
        elif message["role"] == "assistant":
            place.steering = ()
        previous = message
    return place


def _runs_on(previous: Json) -> bool:
    """Whether a turn is still running after this message: what is typed then is steering."""
    return previous["role"] == "tool" and "interrupted" not in text_of(previous)


def _hear(place: _Place, text: str, position: int, *, steering: bool) -> None:
    word = _understood(text)
    if not word and steering:
        place.steering = (*place.steering, text)
        return
    first = place.scene is None
    scene: Scene | None
    match word:
        case "help":
            place.answer, place.begun_at = "help", position
            return
        case "again":
            scene = place.scene or SCENES[0]
        case "next":
            scene = SCENES[0] if place.scene is None else _after(place.scene)
        case "tour":
            scene = SCENES[0]
        case "":
            scene = SCENES[0] if first and not place.answer else None
        case _:
            scene = next(each for each in SCENES if each.name == word)
    if scene is None:
        place.answer = "unknown" if not word else "help"
    else:
        place.scene, place.answer = scene, ""
        place.greeted = first
    place.begun_at = position


def _understood(text: str) -> str:
    """The word or scene that a message means; empty for none."""
    plain = re.sub(r"[^\w? ]", " ", text.lower()).strip()
    for word, ways in _WORDS.items():
        if plain in ways:
            return word
    said = plain.split()
    for scene in SCENES:
        if scene.name in said or (len(said) <= 6 and any(alias in said for alias in scene.aliases)):
            return scene.name
    # "help me", "again please": a few words around one that is known.
    if len(said) <= 3:
        for word, ways in _WORDS.items():
            if any(way in said for way in ways):
                return word
    return ""


def _after(scene: Scene) -> Scene | None:
    position = SCENES.index(scene) + 1
    return SCENES[position] if position < len(SCENES) else None


def _ended(scene: Scene | None) -> str:
    following = _after(scene) if scene is not None else None
    if following is None:
        return _THE_END
    return f"**Next:** {following.shows}. Type `next`, or `help` for the list."


def _help() -> str:
    return _HELP.format(rows="\n".join(f"| `{scene.name}` | {scene.shows} |" for scene in SCENES))
