"""The open session: one root agent with its tools, environments, model and place in the store.

Lives on the engine's loop; ``Engine`` is the door. What blocks (stores, checks, environments) runs in pool threads.
"""

import asyncio
import logging
from pathlib import Path

import msgspec

from hermes_tui.agent.agent import Agent, Client, NoClient, model_changed
from hermes_tui.agent.batch import BatchParts, BatchRunner
from hermes_tui.agent.briefing import briefing, lend_variables, process_news
from hermes_tui.agent.extending import make_extensions, start_extensions
from hermes_tui.agent.gate import ApprovalGate, GateFacts, add_stored_rules, confirm_host, tirith_of
from hermes_tui.agent.hooked import SessionHooks
from hermes_tui.agent.model_choice import ModelChoice
from hermes_tui.agent.opening import StoredSession, find_wanted, load_session, title_of
from hermes_tui.agent.options import SessionParts
from hermes_tui.agent.person_shell import PersonShell
from hermes_tui.agent.prompts import PromptFacts, system_prompt, today
from hermes_tui.agent.selection import ToolSelection
from hermes_tui.agent.turns import TurnQueue
from hermes_tui.agent.workplace import Workplace
from hermes_tui.backends.processes import ProcessNotice
from hermes_tui.protocol.context import AgentState
from hermes_tui.protocol.environment import EnvironmentFailure
from hermes_tui.protocol.events import (
    BackendChanged,
    Event,
    Notice,
    NoticeLevel,
    SessionStarted,
    SessionTitled,
    TodoChanged,
    ToolsetsChanged,
)
from hermes_tui.protocol.messages import Message
from hermes_tui.safety import Rules
from hermes_tui.safety.redact import Redactor, secrets_of_environment
from hermes_tui.safety.sudo import SudoKeeper
from hermes_tui.settings import ApprovalMode, OnNoAnswer
from hermes_tui.store.records import SessionRecord, SessionSummary, new_session_id
from hermes_tui.store.schema import StoreError
from hermes_tui.tools.discovery import discover_tools
from hermes_tui.tools.process_tool import process_registry
from hermes_tui.tools.toolsets import ToolsetInfo, UnknownToolset

logger = logging.getLogger(__name__)

ROOT = "root"
"""Id of the root agent."""
BEGUN = "A new session was begun."
STAYS = "You stay in this one."


class Session:
    """One conversation at a time; opening another one interrupts this one and closes its environments."""

    def __init__(self, parts: SessionParts) -> None:
        options = parts.options
        self._parts = parts
        self._options = options
        self._settings = options.settings
        self._environ = dict(options.environ)
        self.place = Workplace(options, parts.pool, lambda question: confirm_host(parts.desk, question))
        self._mode = options.settings.approvals.mode
        self._hooked = SessionHooks(parts.hooks, parts.pool, parts.spawn, lambda: self.session_id)
        self.turns = TurnQueue(lambda: self.agent, self._store_session, parts.spawn, self._hooked.turn)
        self._stored = False
        self._title = ""
        self._state = AgentState()
        self._agent: Agent | None = None
        self._selection: ToolSelection | None = None
        self._opening = asyncio.Lock()
        self._held: list[Notice] | None = []
        """Notices while a session opens: its start empties the screen, so they are told after it."""
        self._rules = Rules()
        self._redact = Redactor(secrets_of_environment(self._environ.items()), enabled=options.settings.security.redact)
        self._tirith = tirith_of(options.settings.approvals, options.paths.home)
        self._sudo = SudoKeeper(
            configured=self._environ.get("SUDO_PASSWORD"), timeout_s=options.settings.approvals.sudo_timeout
        )
        self._leave_processes = process_registry().subscribe(self._hear_process)
        self.session_id = ""
        self.models = ModelChoice(options.settings, self._environ, options.make_client)
        self.extensions = make_extensions(
            parts,
            self.models,
            workspace=lambda: self.place.folder,
            notify=self.notice,
            redact=self._redact,
            tools_changed=self._tools_changed,
            say=self._say,
            is_open=lambda: self._agent is not None,
        )

    # -- opening and closing ------------------------------------------------------------------------------------------

    async def open(self, session_id: str | None) -> None:
        """Open a stored session, or a new one. A running turn is interrupted first.

        Where the stored one cannot be opened, the open one stays as it is, its turn too.
        """
        async with self._opening:
            self._held = self._held or []
            try:
                if session_id is None or session_id != self.session_id:
                    await self._change_to(session_id)
            finally:
                held, self._held = self._held, None
                for notice in held:
                    self._parts.publish(notice)

    async def _change_to(self, session_id: str | None) -> None:
        stored = await self._load(session_id) if session_id is not None else None
        if session_id is not None and stored is None and self.session_id:
            return
        await self.turns.hold()
        try:
            await self._open(stored)
        finally:
            self.turns.release()

    async def _open(self, stored: StoredSession | None) -> None:
        if self._selection is None:
            self._selection = await self._discover()
        if self._stored:
            self._parts.store.release(self.session_id)
        self._state = AgentState()
        if stored is None:
            self.session_id, self._title, self._stored = new_session_id(), "", False
        else:
            await self._move_to(stored)
        spec = self.models.spec
        self._parts.publish(
            SessionStarted(
                model=(spec.id or spec.provider_label) if spec is not None else "",
                backend=self.place.backend,
                folder=self.place.folder,
                title=self._title,
                resumed=stored is not None,
                agent_id=ROOT,
            )
        )
        for event in stored.events if stored is not None else ():
            if isinstance(event, TodoChanged) and event.agent_id == ROOT:
                self._state.todo = list(event.items)
            # A session tells of its opening each time it is opened; once is enough.
            if not isinstance(event, SessionStarted):
                self._parts.replay(event)
        self._agent = self._new_agent(stored.messages if stored is not None else [], await self._briefing())
        self._tell_model()
        self._tell_toolsets()

    async def open_wanted(self, resume: str = "", *, latest: bool = False) -> None:
        """Open the session that is meant, or the latest of this folder; a new one, and a notice, if there is none."""
        store, folder = self._parts.store, self.place.folder if latest else None
        wanted = await self._parts.pool.run(lambda: find_wanted(store, resume, folder))
        if self.session_id and wanted.session_id is None:
            self.notice(NoticeLevel.WARNING, f"{wanted.notice} {STAYS}")
            return
        self._held = self._held or []
        if wanted.notice:
            self.notice(NoticeLevel.WARNING, wanted.notice if wanted.session_id else f"{wanted.notice} {BEGUN}")
        await self.open(wanted.session_id)

    async def _load(self, session_id: str) -> StoredSession | None:
        try:
            return await self._parts.pool.run(lambda: load_session(self._parts.store, session_id))
        except (StoreError, LookupError) as error:
            self.notice(NoticeLevel.ERROR, f"{error} {STAYS if self.session_id else BEGUN}")
            return None

    async def _move_to(self, stored: StoredSession) -> None:
        """Take up a stored session, in its folder."""
        summary = stored.summary
        self.session_id, self._title, self._stored = summary.id, summary.label, True
        if not stored.folder_is_there:
            self.notice(NoticeLevel.WARNING, f"The folder {summary.folder} is gone; working in {self.place.folder}.")
        await self.place.move(summary.folder if stored.folder_is_there else self.place.folder)

    async def close(self) -> None:
        """Interrupt the turn and close what it used."""
        await self.turns.end()
        await self._hooked.close()
        self._sudo.forget()
        self._leave_processes()
        await self._parts.pool.run(process_registry().close)
        await self.extensions.close()
        await self.place.close()
        await self.models.close()

    async def _discover(self) -> ToolSelection:
        report = await self._parts.pool.run(lambda: discover_tools(self._options.paths.home))
        await self._load_rules()
        await start_extensions(self.extensions, self._parts)
        lend_variables(self._options.tools.entries(), self._environ)
        for failure in report.failures:
            self.notice(NoticeLevel.WARNING, f"A tool could not be loaded: {failure.source}: {failure.reason}")
        tools = self._settings.tools
        try:
            return self._select(tools.enabled_toolsets, tools.disabled_toolsets)
        except UnknownToolset as error:
            self.notice(NoticeLevel.WARNING, f"{error}. All toolsets are on instead.")
            return self._select((), ())

    async def _load_rules(self) -> None:
        paths = (self._options.paths.rules, Path(self.place.folder) / ".hermes" / "approvals.yaml")
        for problem in await self._parts.pool.run(lambda: add_stored_rules(self._rules, *paths)):
            self.notice(NoticeLevel.ERROR, f"Stored rules are not used, so more is asked: {problem}")

    def _select(self, enabled: tuple[str, ...], disabled: tuple[str, ...]) -> ToolSelection:
        return ToolSelection(
            self._options.tools,
            self._parts.pool,
            enabled=enabled,
            disabled=disabled,
            search=self._settings.tools.tool_search,
        )

    async def _briefing(self) -> tuple[str, ...]:
        paths, folder, skills = self._options.paths, Path(self.place.folder), self._skill_folders()
        toolsets = self.selection.toolsets
        return await self._parts.pool.run(lambda: briefing(paths, folder, skills, toolsets))

    def _new_agent(self, history: list[Message], extra: tuple[str, ...]) -> Agent:
        facts = PromptFacts(
            backend=self.place.backend,
            folder=self.place.folder,
            toolsets=self.selection.toolsets,
            date=today(),
            interactive=self._options.interactive,
            extra=extra,
        )
        return Agent(
            agent_id=ROOT,
            system=system_prompt(facts),
            client=lambda: self._hooked.client(self.models.client()),
            batch=BatchRunner(self._batch_parts(), agent_id=ROOT),
            publish=self._parts.publish,
            keep=self._keep_message,
            history=history,
            max_iterations=self._settings.agent.max_iterations,
            on_no_answer_stop=lambda: self._settings.approvals.on_no_answer is OnNoAnswer.STOP,
        )

    def _batch_parts(self) -> BatchParts:
        gate = ApprovalGate(desk=self._parts.desk, rules=self._rules, facts=self._gate_facts, pool=self._parts.pool)
        return BatchParts(
            selection=self.selection,
            gate=gate,
            hooks=self._parts.hooks,
            environments=self.place.environments,
            asker=self._parts.desk,
            sudo=self._sudo,
            publish=self._parts.publish,
            schedule=self._parts.schedule,
            settings=self._settings,
            state=self._state,
            session_id=lambda: self.session_id,
            workspace=lambda: self.place.folder,
            context_window=lambda: self.models.spec.context_window if self.models.spec is not None else 0,
            redact=self._redact,
            results=self._options.paths.results,
            store=self._parts.store,
            interactive=self._options.interactive,
            parallel_safe=self.extensions.parallel_safe,
            skill_folders=self._skill_folders,
        )

    def _skill_folders(self) -> tuple[str, ...]:
        return (*self._settings.tools.skill_folders, *map(str, self.extensions.skills))

    def _gate_facts(self) -> GateFacts:
        return GateFacts(
            mode=self._mode,
            preset=self._settings.approvals.preset,
            workspace=self.place.folder,
            own_home=str(self._options.paths.home),
            rules_path=self._options.paths.rules,
            timeout_s=self._settings.approvals.timeout or None,
            tirith=self._tirith,
            tell=lambda text: self.notice(NoticeLevel.WARNING, text),
        )

    # -- turns --------------------------------------------------------------------------------------------------------

    @property
    def agent(self) -> Agent:
        assert self._agent is not None, "the session is open before any door is"
        return self._agent

    @property
    def selection(self) -> ToolSelection:
        assert self._selection is not None, "tools are discovered before any door is open"
        return self._selection

    def _hear_process(self, notice: ProcessNotice) -> None:
        """In a reader's thread: a background process of this session has something to say to the model."""
        if notice.info.session_id == self.session_id:
            self._parts.call(lambda: self._say(process_news(notice)))

    def _say(self, text: str) -> None:
        """A message of a plugin or a process: it steers the running turn, or is the next prompt."""
        if self._agent is not None:
            self.turns.steer(text)

    # -- keeping ------------------------------------------------------------------------------------------------------

    def _store_session(self, text: str) -> None:
        """A session enters the store with its first prompt, so that none without a word is listed."""
        if self._stored:
            return
        spec = self.models.spec
        record = SessionRecord(
            id=self.session_id,
            agent_id=ROOT,
            folder=self.place.folder,
            model=spec.id if spec is not None else "",
            backend=self.place.backend,
        )
        self._parts.store.create_session(record)
        self._stored = True
        if not self._title:
            self._title = title_of(text)
        self._parts.publish(SessionTitled(title=self._title, agent_id=ROOT))

    def _keep_message(self, agent_id: str, message: Message) -> None:
        self._parts.store.append_message(self.session_id, agent_id, message)

    def keep_event(self, event: Event) -> None:
        """Store a published event; what comes before the first prompt belongs to no session yet."""
        self._hooked.tell(event)
        if not self._stored or event.session_id != self.session_id:
            return
        try:
            self._parts.store.append_event(self.session_id, event)
        except StoreError:
            # The agent's own appends fail loudly; an event that only the replay lacks must not end a turn.
            logger.exception("an event could not be stored")

    async def summaries(self, query: str) -> list[SessionSummary]:
        return await self._parts.pool.run(lambda: self._parts.store.summaries(query))

    async def delete(self, session_id: str) -> None:
        """Delete a stored session; deleting the open one begins a new one."""
        if session_id == self.session_id:
            await self.open(None)
        await self._parts.pool.run(lambda: self._parts.store.delete(session_id))

    async def rename(self, title: str, session_id: str = "") -> None:
        """Give a session (empty: the open one) the person's title."""
        target = session_id or self.session_id
        if target == self.session_id:
            self._title = title
            self._parts.publish(SessionTitled(title=title, agent_id=ROOT))
        if target != self.session_id or self._stored:
            await self._parts.pool.run(lambda: self._parts.store.rename(target, title))

    # -- changes in mid-session ---------------------------------------------------------------------------------------

    async def set_backend(self, name: str) -> None:
        """Switch where commands run, if it works; running calls finish where they began."""
        if name == self.place.backend:
            return
        try:
            folder, health = await self.place.switch(name, ROOT)
        except EnvironmentFailure as error:
            kept = self.place.backend
            self.notice(NoticeLevel.ERROR, f"The backend {name} cannot be used: {error} Still working on {kept}.")
            return
        self.agent.note(f"Commands and files are now on the backend {name}, in {folder}")
        self._parts.publish(BackendChanged(backend=name, folder=folder, detail=health.detail, agent_id=ROOT))

    def set_toolset(self, name: str, enabled: bool) -> None:
        try:
            self.selection.switch(name, enabled)
        except KeyError:
            self.notice(NoticeLevel.ERROR, f"There is no toolset {name}.")
            return
        self._tell_toolsets()

    def set_approval_mode(self, mode: ApprovalMode) -> None:
        self._mode = mode

    def set_model(self, name: str, provider: str, base_url: str) -> None:
        try:
            self.models.choose(name, provider, base_url)
        except NoClient as error:
            self.notice(NoticeLevel.ERROR, f"{error} The model stays as it was.")
            return
        self._tell_model()

    def set_key(self, variable: str, value: str, provider: str) -> None:
        self.models.set_key(variable, value, provider)
        self.selection.recheck()
        self._tell_model()

    async def use_client(self, client: Client, workspace: str) -> None:
        """Work with this client in this folder (the demo), in a new session."""
        self.models.use(client)
        await self.place.move(workspace)
        await self.open(None)

    async def run_shell(self, command: str) -> None:
        """Run a command of the person's own, and tell the model of it with the next prompt."""
        shell = PersonShell(self.place.environments, ROOT, self._parts.pool, self._parts.publish, self._parts.schedule)
        self._store_session(f"! {command}")
        self.agent.note(await shell.run(command, self.turns.token()))

    async def toolset_rows(self) -> list[ToolsetInfo]:
        return await self.selection.rows()

    # -- telling ------------------------------------------------------------------------------------------------------

    def _tell_model(self) -> None:
        spec = self.models.spec
        if spec is not None:
            self._parts.publish(msgspec.structs.replace(model_changed(spec), agent_id=ROOT))

    def _tools_changed(self) -> None:
        """An MCP server came, went or changed its tools: the next model call sees it."""
        if self._selection is not None:
            self._selection.recheck()
            self._tell_toolsets()

    def _tell_toolsets(self) -> None:
        self._parts.publish(ToolsetsChanged(enabled=self.selection.toolsets, agent_id=ROOT))

    def notice(self, level: NoticeLevel, text: str) -> None:
        told = Notice(level=level, text=text, agent_id=ROOT)
        if self._held is not None:
            self._held.append(told)
        else:
            self._parts.publish(told)
