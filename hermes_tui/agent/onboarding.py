"""The ways to a model for somebody who has none yet: a key, a server on this machine, the offline demo."""

import tempfile
from pathlib import Path

from hermes_tui.agent.pool import DaemonPool
from hermes_tui.agent.session import Session
from hermes_tui.models.catalog import Provider, known_providers
from hermes_tui.models.demo import demo_client
from hermes_tui.models.demo_folder import prepare_demo_folder
from hermes_tui.models.keys import KeyCheck, check_key, store_key
from hermes_tui.paths import Paths
from hermes_tui.protocol.events import NoticeLevel


def provider_named(name: str) -> Provider:
    """Return a provider that needs only a key. Raises KeyError."""
    return {provider.name: provider for provider in known_providers()}[name]


async def add_key(session: Session, paths: Paths, pool: DaemonPool, provider_name: str, key: str) -> KeyCheck:
    """Check a key with one real request; a good one is stored in .env and used from now on."""
    provider = provider_named(provider_name)
    check = await check_key(provider, key)
    if not check.ok:
        return check
    key = key.strip()
    try:
        await pool.run(lambda: store_key(paths.env, provider.key_variable, key))
    except OSError as error:
        session.set_key(provider.key_variable, key, provider.name)
        return KeyCheck(True, f"{check.message} It could not be kept in {paths.env} ({error}); it holds for this run.")
    session.set_key(provider.key_variable, key, provider.name)
    return check


async def start_demo(session: Session, pool: DaemonPool) -> None:
    """Let the scripted model answer, in a new session in a throw-away folder."""

    def prepare() -> Path:
        folder = Path(tempfile.mkdtemp(prefix="hermes-tui-demo-"))
        prepare_demo_folder(folder)
        return folder

    folder = await pool.run(prepare)
    await session.use_client(demo_client(folder), str(folder))
    session.notice(
        NoticeLevel.INFO,
        "This is the offline demo: a script answers, everything else is real and works in a throw-away folder. "
        "Type tour to see all of it, or help for the list.",
    )
