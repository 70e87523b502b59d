"""The turns of a session, one after another: prompts queue behind the running one, steering goes into it."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from hermes_tui.agent.agent import Agent
from hermes_tui.protocol.cancel import CancelToken
from hermes_tui.protocol.events import TurnEnd, TurnFinished

RunTurn = Callable[[Agent, str, CancelToken, str], Awaitable[TurnFinished]]


class TurnQueue:
    """Lives on the engine's loop."""

    def __init__(
        self,
        agent: Callable[[], Agent],
        begin: Callable[[str], None],
        spawn: Callable[[Coroutine[Any, Any, None]], "asyncio.Task[None]"],
        run: RunTurn = Agent.run_turn,
    ) -> None:
        """``begin`` is called with the prompt before each turn, which ``run`` carries to its end."""
        self._agent = agent
        self._begin = begin
        self._spawn = spawn
        self._run_turn = run
        self._queue: list[str] = []
        self._turn: asyncio.Task[None] | None = None
        self._cancel = CancelToken()
        self._held = False

    def submit(self, text: str) -> None:
        """Start a turn, or queue the prompt behind the running one."""
        self._queue.append(text)
        if self._turn is not None:
            self._agent().set_queued(self._queue)
        elif not self._held:
            self._turn = self._spawn(self._run())

    def steer(self, text: str) -> None:
        """Tell the running turn; without one this is a prompt."""
        if self._turn is None:
            self.submit(text)
        else:
            self._agent().steer(text)

    def take_back(self, text: str, steering: bool) -> bool:
        """Forget a message that still waits; return whether it did."""
        if steering:
            return self._agent().take_back_steering(text)
        if text not in self._queue:
            return False
        self._queue.remove(text)
        self._agent().set_queued(self._queue)
        return True

    async def hold(self) -> None:
        """Another session opens: end the turn, forget what waits, and start nothing until ``release``."""
        self._held = True
        await self.end()
        self._queue.clear()

    def release(self) -> None:
        """The session is open: start what was asked meanwhile."""
        self._held = False
        if self._queue and self._turn is None:
            self._turn = self._spawn(self._run())

    def interrupt(self) -> None:
        self._cancel.cancel("interrupted by the person")

    def token(self) -> CancelToken:
        """Return a token that ``interrupt`` cancels, also while no turn runs."""
        if self._turn is None:
            self._cancel = CancelToken()
        return self._cancel.child()

    async def end(self) -> None:
        """Interrupt the running turn and wait for its end."""
        turn = self._turn
        if turn is not None:
            self.interrupt()
            await asyncio.wait([turn])

    async def _run(self) -> None:
        """Run the queue empty. After an interrupt or an error what is left waits for the person's next prompt."""
        try:
            how = "prompt"
            while self._queue:
                text = self._queue.pop(0)
                agent = self._agent()
                agent.set_queued(self._queue)
                self._cancel = CancelToken()
                self._begin(text)
                finished = await self._run_turn(agent, text, self._cancel, how)
                # Steering that came too late for this turn is the next prompt, before what was queued.
                self._queue[:0] = agent.take_undelivered()
                if finished.end is not TurnEnd.FINISHED:
                    break
                how = "queued"
        finally:
            self._turn = None
            if self._queue:
                self._agent().set_queued(self._queue)
