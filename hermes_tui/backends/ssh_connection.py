"""One SSH connection for many commands: opened through hops, watched, and opened again with growing waits."""

import logging
import socket
import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hermes_tui.backends.ssh_hosts import Confirm, Target, fingerprint, parse_hop, trust_known_hosts
from hermes_tui.protocol.cancel import CancelToken
from hermes_tui.protocol.environment import EnvironmentFailure

if TYPE_CHECKING:
    from paramiko import Channel, SFTPClient, SSHClient, Transport

logger = logging.getLogger(__name__)

CONNECT_S: Final = 10.0
WAITS_S: Final = (0.0, 0.5, 1.0, 2.0, 4.0)
"""Before each try to come back after a loss."""
MAX_LINKS: Final = 4
"""Connections at most: a server takes ten sessions on one (OpenSSH's MaxSessions)."""


class Link:
    """A connection with the hops below it and a heartbeat, which also notices a server that is frozen or cut off."""

    def __init__(
        self, target: Target, own_hosts: Path, confirm: Confirm, keepalive_s: float, lost_after_s: float
    ) -> None:
        """Connect. Raises EnvironmentFailure with what to do."""
        self._clients: list[SSHClient] = []
        try:
            for hop in (*map(parse_hop, target.jumps), target):
                self._open(hop, own_hosts, confirm, lost_after_s)
        except BaseException:
            self.close()
            raise
        transport = self._clients[-1].get_transport()
        assert transport is not None
        self.transport: Transport = transport
        self._stop = threading.Event()
        threading.Thread(
            target=self._beat, args=(keepalive_s, lost_after_s), name=f"ssh-{target.host}", daemon=True
        ).start()

    def _open(self, hop: Target, own_hosts: Path, confirm: Confirm, lost_after_s: float) -> None:
        import paramiko

        # Its threads log every lost connection with a traceback; the failure is told where it matters.
        logging.getLogger("paramiko").setLevel(logging.CRITICAL)
        client = paramiko.SSHClient()
        trust_known_hosts(client, hop, own_hosts, confirm)
        try:
            if self._clients:
                transport = self._clients[-1].get_transport()
                assert transport is not None
                sock: Any = transport.open_channel("direct-tcpip", (hop.host, hop.port), ("", 0), timeout=CONNECT_S)
            elif hop.proxy_command:
                sock = paramiko.ProxyCommand(hop.proxy_command)
            else:
                sock = _connect_socket(hop, lost_after_s)
            self._clients.append(client)
            client.connect(
                hop.host,
                hop.port,
                hop.user,
                key_filename=list(hop.keys) or None,  # type: ignore[arg-type]  # the stubs know no list
                look_for_keys=not hop.keys,
                sock=sock,
                timeout=CONNECT_S,
                banner_timeout=CONNECT_S,
                auth_timeout=CONNECT_S * 3,
            )
        except paramiko.BadHostKeyException as error:
            raise EnvironmentFailure(
                f"The key of {hop.host} has CHANGED: it is now {fingerprint(error.key)}, known was "
                f"{fingerprint(error.expected_key)}. Either the host was set up anew, or somebody is in between. "
                f"Nothing was sent. If the change is right, remove the old line with `ssh-keygen -R {hop.host}` "
                f"(and from {own_hosts})."
            ) from error
        except paramiko.PasswordRequiredException as error:
            raise EnvironmentFailure(
                f"The key for {hop.label} is locked with a passphrase. Load it with `ssh-add`, then try again."
            ) from error
        except paramiko.AuthenticationException as error:
            raise EnvironmentFailure(
                f"{hop.label} accepted none of the keys. Check that `ssh {hop.label}` works without a password, or set "
                "terminal.ssh_key."
            ) from error
        except (paramiko.SSHException, OSError, EOFError) as error:
            raise EnvironmentFailure(f"No connection to {hop.label}: {_reason(error)}.") from error

    @property
    def active(self) -> bool:
        return bool(self.transport.is_active())

    def close(self) -> None:
        if hasattr(self, "_stop"):
            self._stop.set()
        for client in reversed(self._clients):
            with suppress(OSError, EOFError):
                client.close()

    def _beat(self, every_s: float, limit_s: float) -> None:
        """Ask the server for a sign of life; end the connection when none comes within ``limit_s`` seconds."""
        while not self._stop.wait(every_s) and self.active:
            alarm = threading.Timer(limit_s, self._give_up)
            alarm.daemon = True
            alarm.start()
            try:
                self.transport.global_request("keepalive@openssh.com", wait=True)
            except (OSError, EOFError):
                break
            finally:
                alarm.cancel()

    def _give_up(self) -> None:
        logger.warning("an ssh connection gave no sign of life and was ended")
        self.close()


class Connection:
    """The connection of an environment, and more of them where one does not take all sessions. Thread-safe."""

    def __init__(
        self, target: Target, *, own_hosts: Path, confirm: Confirm, keepalive_s: float, lost_after_s: float
    ) -> None:
        self.target = target
        self._arguments = (target, own_hosts, confirm, keepalive_s, lost_after_s)
        self._lock = threading.RLock()
        self._links: list[Link] = []
        self._sftp: SFTPClient | None = None
        self._was_up = False
        self._closed = False

    @property
    def active(self) -> bool:
        return any(link.active for link in self._links)

    def ensure(self, cancel: CancelToken | None = None, *, patient: bool = True) -> bool:
        """Connect where that is needed; return whether the connection is a new one.

        After a loss it is tried several times where ``patient``. Raises EnvironmentFailure.
        """
        with self._lock:
            if self._closed:
                raise EnvironmentFailure("the ssh environment was closed")
            if self._links and self._links[0].active:
                return False
            self._drop()
            waits = WAITS_S if self._was_up and patient else WAITS_S[:1]
            for number, wait_s in enumerate(waits, 1):
                if wait_s and (cancel or CancelToken()).wait(wait_s):
                    return False
                try:
                    self._links.append(Link(*self._arguments))
                except EnvironmentFailure:
                    if number == len(waits):
                        raise
                else:
                    break
            self._was_up = True
            return True

    def session(self) -> "Channel":
        """Return a new session. Raises SSHException, EOFError or OSError where there is none to be had."""
        import paramiko

        if (channel := self._free_session()) is not None:
            return channel
        with self._lock:
            if (channel := self._free_session()) is not None:
                return channel
            if not self.active or len(self._links) >= MAX_LINKS:
                raise paramiko.SSHException("the server takes no more sessions" if self.active else "not connected")
            self._links.append(Link(*self._arguments))
            return self._links[-1].transport.open_session(timeout=CONNECT_S)

    def _free_session(self) -> "Channel | None":
        """Return a session of the first connection that takes one."""
        import paramiko

        for link in tuple(self._links):
            # A refusal is a ChannelException, or any other when two come at once.
            with suppress(paramiko.SSHException, EOFError):
                return link.transport.open_session(timeout=CONNECT_S)
        return None

    def sftp(self) -> "SFTPClient":
        """Return the one SFTP client. Raises as ``session`` does."""
        import paramiko

        with self._lock:
            if self._sftp is None or self._sftp.get_channel().closed:  # type: ignore[union-attr]  # set once open
                channel = self.session()
                channel.invoke_subsystem("sftp")
                self._sftp = paramiko.SFTPClient(channel)
            return self._sftp

    def close(self) -> None:
        with self._lock:
            self._closed = True
            self._drop()

    def _drop(self) -> None:
        links, self._links, self._sftp = self._links, [], None
        for link in links:
            link.close()


def _connect_socket(hop: Target, lost_after_s: float) -> socket.socket:
    sock = socket.create_connection((hop.host, hop.port), timeout=CONNECT_S)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(lost_after_s * 1000))
    return sock


def _reason(error: BaseException) -> str:
    if isinstance(error, TimeoutError):
        return f"no answer within {CONNECT_S:.0f} s"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return (str(error) or type(error).__name__).rstrip(".")
