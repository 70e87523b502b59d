"""Signing in to an HTTP server with OAuth: the SDK speaks the protocol, here are its storage, browser and callback."""

import asyncio
import logging
import socket
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from hermes_tui.extensions.mcp.calls import ServerFailure
from hermes_tui.extensions.private_files import read_json, write_json

if TYPE_CHECKING:
    import httpx2
    from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthToken

logger = logging.getLogger(__name__)

SIGN_IN_S = 300.0
"""How long the person has to sign in, in seconds."""
CALLBACK_PATH = "/callback"
_MAX_REQUEST_BYTES = 16_384
_PAGE = (
    b"HTTP/1.1 %s\r\nContent-Type: text/html; charset=utf-8\r\nConnection: close\r\n\r\n"
    b"<!doctype html><title>hermes-tui</title><p>%s</p>"
)


class TokenFile:
    """Implements the SDK's ``TokenStorage``: one file a server, for the person's eyes only.

    A file that cannot be read counts as none: the person signs in again.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    async def get_tokens(self) -> "OAuthToken | None":
        from mcp.shared.auth import OAuthToken

        found: OAuthToken | None = self._stored("tokens", OAuthToken)
        return found

    async def set_tokens(self, tokens: "OAuthToken") -> None:
        self._store("tokens", tokens)

    async def get_client_info(self) -> "OAuthClientInformationFull | None":
        from mcp.shared.auth import OAuthClientInformationFull

        found: OAuthClientInformationFull | None = self._stored("client", OAuthClientInformationFull)
        return found

    async def set_client_info(self, client_info: "OAuthClientInformationFull") -> None:
        self._store("client", client_info)

    @property
    def port(self) -> int:
        """The port that the program is registered with at the server; 0 where it is not."""
        uris = self._read().get("client", {}).get("redirect_uris") or [""]
        try:
            return urlsplit(str(uris[0])).port or 0
        except ValueError:
            return 0

    def forget(self) -> None:
        self._path.unlink(missing_ok=True)

    def _read(self) -> dict[str, Any]:
        try:
            found = read_json(self._path)
        except (OSError, ValueError) as error:
            logger.warning("the login in %s could not be read: %s", self._path, error)
            found = None
        return found if isinstance(found, dict) else {}

    def _stored(self, key: str, kind: Any) -> Any:
        data = self._read().get(key)
        try:
            return kind.model_validate(data) if data is not None else None
        except ValueError:
            logger.warning("the login in %s is not whole and is not used", self._path)
            return None

    def _store(self, key: str, value: Any) -> None:
        data = {**self._read(), key: value.model_dump(mode="json", exclude_none=True)}
        try:
            write_json(self._path, data)
        except OSError as error:
            logger.warning("the login could not be kept in %s: %s", self._path, error)


class Callback:
    """A web server on this machine, only while a login is open: the browser comes back to it with the code."""

    def __init__(self, port: int) -> None:
        self._port = port or _free_port()
        self._server: asyncio.Server | None = None
        self._answer: asyncio.Future[AuthorizationCodeResult] | None = None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._port}{CALLBACK_PATH}"

    async def open(self) -> None:
        """Start listening. Raises ServerFailure where the port is in use: the program is registered with it."""
        self._answer = asyncio.get_running_loop().create_future()
        try:
            self._server = await asyncio.start_server(self._serve, "127.0.0.1", self._port)
        except OSError as error:
            raise ServerFailure(f"the sign-in needs port {self._port}, which is in use; try again later") from error

    async def wait(self) -> "AuthorizationCodeResult":
        """Return what the browser brought. Raises ServerFailure where the login was refused or took too long."""
        assert self._answer is not None, "opened before it is waited for"
        try:
            async with asyncio.timeout(SIGN_IN_S):
                return await self._answer
        except TimeoutError as error:
            raise ServerFailure(f"nobody signed in within {SIGN_IN_S:g} s") from error

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()
            self._server = None

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(10):
                line = (await reader.readline())[:_MAX_REQUEST_BYTES].decode("latin-1")
            status, text = self._read(line)
            writer.write(_PAGE % (status, text))
            await writer.drain()
        except (OSError, TimeoutError, ValueError) as error:
            logger.debug("a request to the sign-in address came to nothing: %s", error)
        finally:
            writer.close()

    def _read(self, line: str) -> tuple[bytes, bytes]:
        """Take the first line of a request; return the status and the text of the page."""
        from mcp.shared.auth import AuthorizationCodeResult

        parts = urlsplit(line.split(" ")[1] if line.count(" ") >= 2 else "")
        if parts.path != CALLBACK_PATH or self._answer is None or self._answer.done():
            return b"404 Not Found", b"There is nothing here."
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        if "code" in query:
            result = AuthorizationCodeResult(code=query["code"], state=query.get("state"), iss=query.get("iss"))
            self._answer.set_result(result)
            return b"200 OK", b"Signed in. You can close this page and go back to hermes-tui."
        reason = query.get("error_description") or query.get("error") or "no code came back"
        self._answer.set_exception(ServerFailure(f"the sign-in was refused: {reason[:200]}"))
        return b"200 OK", b"The sign-in was refused. You can close this page."


class SignIn:
    """OAuth for one server. ``auth`` goes into its HTTP client."""

    def __init__(self, url: str, tokens: TokenFile, told: Callable[[str], None], done: Callable[[], None]) -> None:
        """``told(address)``: the person must open this address; ``done``: they have, or it came to nothing."""
        self._url = url
        self._tokens = tokens
        self._told = told
        self._done = done
        self._callback = Callback(tokens.port)

    def auth(self) -> "httpx2.Auth":
        """Return what signs the requests; the browser is only needed when a token is missing."""
        from mcp.client.auth import OAuthClientProvider
        from mcp.shared.auth import OAuthClientMetadata

        metadata = OAuthClientMetadata.model_validate(
            {
                "client_name": "hermes-tui",
                "redirect_uris": [self._callback.address],
                "grant_types": ["authorization_code", "refresh_token"],
                "response_types": ["code"],
                "token_endpoint_auth_method": "none",
            }
        )
        return OAuthClientProvider(
            server_url=self._url,
            client_metadata=metadata,
            storage=self._tokens,
            redirect_handler=self._open,
            callback_handler=self._wait,
        )

    async def _open(self, address: str) -> None:
        await self._callback.open()
        # No browser is started: one that draws in the terminal would destroy the screen.
        self._told(address)

    async def _wait(self) -> "AuthorizationCodeResult":
        try:
            return await self._callback.wait()
        finally:
            await self._callback.close()
            self._done()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
