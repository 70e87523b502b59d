"""The engine: a thread with one asyncio loop in which agents live, and the only door of a screen to them.

Every public method may be called from any thread and returns at once; what comes of it is told by events. The loop
lasts for the whole run, so no client ever meets a closed one.
"""

import asyncio
import itertools
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

import msgspec

from hermes_tui.agent import onboarding
from hermes_tui.agent.desk import Desk, TimerHandle
from hermes_tui.agent.options import EngineOptions, SessionParts
from hermes_tui.agent.pool import DaemonPool
from hermes_tui.agent.session import Session
from hermes_tui.models.catalog import Provider, known_providers
from hermes_tui.models.keys import KeyCheck
from hermes_tui.models.local_servers import LocalServer, find_local_servers
from hermes_tui.protocol.environment import BackendInfo, EnvironmentFailure
from hermes_tui.protocol.events import TRANSIENT, Event, Notice, NoticeLevel
from hermes_tui.protocol.extensions import ExtensionCommand, McpServerInfo
from hermes_tui.protocol.inquiries import Answer
from hermes_tui.settings import ApprovalMode
from hermes_tui.store.records import SessionSummary
from hermes_tui.store.sessions import SessionStore, open_store
from hermes_tui.tools.toolsets import ToolsetInfo

logger = logging.getLogger(__name__)

T = TypeVar("T")

STOP_TIMEOUT_S = 5.0
"""How long leaving waits for turns and processes to end; daemon threads do not keep the program after that."""


class Engine:
    """Owns the loop, the store, the desk and the open session."""

    def __init__(self, options: EngineOptions, sink: Callable[[Event], None]) -> None:
        """``sink`` gets every event, in order of ``seq`` per thread, from any thread; it must not block."""
        self._options = options
        self._sink = sink
        self._numbers = itertools.count(1)
        self._stamp_lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._early: deque[Callable[[], object]] = deque()
        self._post_lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, name="engine", daemon=True)
        self._stopped = asyncio.Event()
        self._session: Session | None = None
        self._pool = DaemonPool(4, "engine")
        self._tasks: set[asyncio.Task[None]] = set()
        self.desk = Desk(self.publish, unattended=options.unattended, schedule=self._schedule)

    # -- life ---------------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Start the thread. Doors used before are opened in order as soon as the loop runs."""
        self._thread.start()

    def stop(self, timeout_s: float = STOP_TIMEOUT_S) -> bool:
        """Interrupt what runs, close environments and the store; return whether all ended in time."""
        if not self._thread.is_alive():
            return True
        self.desk.close()
        self._post(self._stopped.set)
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    @property
    def running(self) -> bool:
        return self._thread.is_alive()

    def _run(self) -> None:
        try:
            asyncio.run(self._main())
        except Exception as error:
            logger.exception("the engine stopped")
            self._deliver(
                Notice(
                    level=NoticeLevel.ERROR,
                    text=f"The engine stopped: {error}. What was said is kept; leave and start again with --continue.",
                )
            )

    async def _main(self) -> None:
        store = open_store(self._options.paths.sessions)
        session = self._session = Session(self._parts(store))
        for notice in store.notices:
            # Through the session, which tells it on the screen that its opening empties.
            session.notice(NoticeLevel.ERROR, notice)
        await session.open_wanted(self._options.resume or "", latest=self._options.continue_latest)
        # Doors open with the session: what was asked before waits until here.
        with self._post_lock:
            self._loop = asyncio.get_running_loop()
            early, self._early = self._early, deque()
        for call in early:
            call()
        await self._stopped.wait()
        await session.close()
        for task in self._tasks:
            task.cancel()
        store.close()

    def _parts(self, store: SessionStore) -> SessionParts:
        return SessionParts(
            options=self._options,
            publish=self.publish,
            replay=self.replay,
            desk=self.desk,
            store=store,
            pool=self._pool,
            schedule=self._schedule,
            call=self._post,
            spawn=self._spawn,
        )

    # -- doors --------------------------------------------------------------------------------------------------------

    def submit(self, text: str) -> None:
        """Send a prompt: at once when nothing runs, after the running turn otherwise."""
        self._to_session(lambda session: session.turns.submit(text))

    def steer(self, text: str) -> None:
        """Deliver a message to the running turn after its running tools; without a turn it is a prompt."""
        self._to_session(lambda session: session.turns.steer(text))

    def take_back(self, text: str, steering: bool) -> "Future[bool]":
        """Take back a queued prompt or a steering message; whether it still waited."""

        async def take_back(session: Session) -> bool:
            return session.turns.take_back(text, steering)

        return self._ask_session(take_back)

    def interrupt(self) -> None:
        """End the running turn within a second. Queued prompts stay, and wait for the person."""
        self._to_session(lambda session: session.turns.interrupt())

    def answer(self, inquiry_id: str, answer: Answer) -> bool:
        """Answer an inquiry; False when it had closed before."""
        return self.desk.answer(inquiry_id, answer)

    def set_backend(self, name: str) -> None:
        """Switch where commands run, if the backend works; a Notice says why not otherwise."""
        self._to_session(lambda session: self._spawn(session.set_backend(name)))

    def set_toolset(self, name: str, enabled: bool) -> None:
        """Switch a toolset; the next model call sees it."""
        self._to_session(lambda session: session.set_toolset(name, enabled))

    def set_approval_mode(self, mode: ApprovalMode) -> None:
        self._to_session(lambda session: session.set_approval_mode(mode))

    def set_model(self, name: str, provider: str = "", base_url: str = "") -> None:
        """Use another model from the next model call on."""
        self._to_session(lambda session: session.set_model(name, provider, base_url))

    def add_key(self, provider: str, key: str) -> "Future[KeyCheck]":
        """Check a key with one real request, store it in .env and use it."""
        return self._ask_session(
            lambda session: onboarding.add_key(session, self._options.paths, self._pool, provider, key)
        )

    def providers(self) -> tuple[Provider, ...]:
        """Return the providers that need only a key."""
        return known_providers()

    def local_servers(self) -> "Future[list[LocalServer]]":
        """Look for model servers on this machine, half a second at most."""
        return self._ask_session(lambda session: find_local_servers())

    def use_demo(self) -> None:
        """Let the scripted demo model answer, in a new session in a throw-away folder."""
        self._to_session(lambda session: self._spawn(onboarding.start_demo(session, self._pool)))

    def run_shell(self, command: str) -> None:
        """Run a command of the person's own, unasked, on the current backend; the model is told of it."""
        self._to_session(lambda session: self._spawn(session.run_shell(command)))

    def new_session(self) -> None:
        self._to_session(lambda session: self._spawn(session.open(None)))

    def open_session(self, session_id: str) -> None:
        """Open a stored session; its events are published again, then SessionStarted with ``resumed``."""
        self._to_session(lambda session: self._spawn(session.open(session_id)))

    def resume(self, wanted: str) -> None:
        """Open the stored session that a person means by an id, the beginning of one, or a title."""
        self._to_session(lambda session: self._spawn(session.open_wanted(wanted)))

    def rename(self, title: str, session_id: str = "") -> "Future[None]":
        """Title a session; empty is the open one."""
        return self._ask_session(lambda session: session.rename(title, session_id))

    def warm_up(self) -> None:
        """Load the model client in a thread, now that the first frame is on screen."""
        self._to_session(lambda session: session.models.warm_up())

    # -- questions of the screen, answered off its thread -------------------------------------------------------------

    def toolset_rows(self) -> "Future[list[ToolsetInfo]]":
        return self._ask_session(lambda session: session.toolset_rows())

    def backend_rows(self) -> "Future[list[BackendInfo]]":
        return self._ask_session(lambda session: session.place.backend_rows())

    def complete_file(self, query: str) -> "Future[list[str]]":
        """Return the paths of the workspace that ``query`` fits best."""
        return self._ask_session(lambda session: session.place.complete_file(query))

    def sessions(self, query: str = "") -> "Future[list[SessionSummary]]":
        return self._ask_session(lambda session: session.summaries(query))

    def delete_session(self, session_id: str) -> "Future[None]":
        return self._ask_session(lambda session: session.delete(session_id))

    # -- extensions ---------------------------------------------------------------------------------------------------

    def mcp_servers(self) -> "Future[list[McpServerInfo]]":
        return self._ask_session(lambda session: _at_once(session.extensions.mcp_rows))

    def mcp_log(self, server: str) -> "Future[str]":
        """Return the end of what a server wrote to its log."""
        return self._ask_session(lambda session: session.extensions.mcp.log_tail(server))

    def change_mcp_server(self, verb: str, text: str) -> "Future[None]":
        """``start``, ``stop``, ``restart`` or ``remove`` the server called ``text``, or ``add`` the one it describes.

        Raises KeyError for an unknown server, ValueError and OSError where it cannot be; the text is for the person.
        """
        return self._ask_session(lambda session: session.extensions.mcp.change(verb, text))

    def extension_commands(self) -> "Future[list[ExtensionCommand]]":
        """Return the slash commands that plugins brought."""
        return self._ask_session(lambda session: _at_once(lambda: list(session.extensions.commands.values())))

    def run_extension_command(self, name: str, args: str) -> "Future[str]":
        """Run a plugin's slash command; return what is shown. Raises KeyError for an unknown one."""
        return self._ask_session(lambda session: session.extensions.run_command(name, args))

    # -- events -------------------------------------------------------------------------------------------------------

    def publish(self, event: Event) -> None:
        """Stamp, deliver and, unless it is transient, store an event. Called from any thread."""
        stamped = self._deliver(event)
        if not isinstance(event, TRANSIENT):
            self._on_loop(lambda: self._keep(stamped))

    def replay(self, event: Event) -> None:
        """Deliver an event that is stored already."""
        self._deliver(event)

    def _deliver(self, event: Event) -> Event:
        session = self._session
        with self._stamp_lock:
            stamped = msgspec.structs.replace(
                event,
                session_id=event.session_id or (session.session_id if session is not None else ""),
                seq=next(self._numbers),
                at=event.at or time.time(),
            )
            self._sink(stamped)
        return stamped

    def _keep(self, event: Event) -> None:
        if self._session is not None:
            self._session.keep_event(event)

    # -- threads ------------------------------------------------------------------------------------------------------

    def _to_session(self, act: Callable[[Session], object]) -> None:
        def call() -> None:
            assert self._session is not None
            try:
                act(self._session)
            except EnvironmentFailure as error:
                self.publish(Notice(level=NoticeLevel.ERROR, text=str(error)))

        self._post(call)

    def _ask_session(self, question: Callable[[Session], Coroutine[Any, Any, T]]) -> "Future[T]":
        answer: Future[T] = Future()
        answer.set_running_or_notify_cancel()

        async def ask() -> None:
            assert self._session is not None
            try:
                answer.set_result(await question(self._session))
            except Exception as error:  # noqa: BLE001 - carried over to the thread that asked
                answer.set_exception(error)

        self._post(lambda: self._spawn(ask()))
        return answer

    def _post(self, call: Callable[[], object]) -> None:
        with self._post_lock:
            loop = self._loop
            if loop is None:
                self._early.append(call)
                return
        try:
            loop.call_soon_threadsafe(call)
        except RuntimeError:
            # The loop closed between a key and its door: the program is leaving, and there is nobody to tell.
            logger.debug("a call came after the engine had stopped")

    def _on_loop(self, call: Callable[[], None]) -> None:
        """Call now if this is the engine's thread, else in its turn."""
        if threading.current_thread() is self._thread:
            call()
        else:
            self._post(call)

    def _spawn(self, coroutine: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        """Start a task and keep hold of it; what it raises is logged and told."""
        task = asyncio.get_running_loop().create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        if task.cancelled() or (error := task.exception()) is None:
            return
        logger.error("a task of the engine failed", exc_info=error)
        self.publish(
            Notice(
                level=NoticeLevel.ERROR,
                text=f"Something inside the program failed: {error}. The conversation is kept; see the log.",
            )
        )

    def _schedule(self, delay_s: float, callback: Callable[[], None]) -> TimerHandle:
        return _LoopTimer(self._post, delay_s, callback)


async def _at_once(read: Callable[[], T]) -> T:
    return read()


class _LoopTimer:
    """A timer of the engine's loop that may be started and cancelled from any thread."""

    def __init__(
        self, post: Callable[[Callable[[], object]], None], delay_s: float, callback: Callable[[], None]
    ) -> None:
        self._handle: asyncio.TimerHandle | None = None
        self._cancelled = False
        self._post = post
        started = time.monotonic()

        def arm() -> None:
            if not self._cancelled:
                left = max(0.0, delay_s - (time.monotonic() - started))
                self._handle = asyncio.get_running_loop().call_later(left, self._fire, callback)

        post(arm)

    def _fire(self, callback: Callable[[], None]) -> None:
        if not self._cancelled:
            callback()

    def cancel(self) -> None:
        self._cancelled = True
        if self._handle is not None:
            self._post(self._handle.cancel)
