"""An MCP server behind OAuth, with its own authorization server: ``python -m tests.fakes.mcp_signin PORT [refuse]``.

Whoever opens the address to sign in is let in (or, with ``refuse``, turned away) without a question.
"""

import sys
import time
from secrets import token_urlsafe
from typing import Any

from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    OAuthAuthorizationServerProvider,
    RefreshToken,
    construct_redirect_uri,
)
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions
from mcp.server.mcpserver import MCPServer
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from pydantic import AnyHttpUrl


class Provider(OAuthAuthorizationServerProvider[AuthorizationCode, RefreshToken, AccessToken]):
    """Keeps clients, codes and tokens in memory."""

    def __init__(self, refuse: bool) -> None:
        self._refuse = refuse
        self._clients: dict[str, OAuthClientInformationFull] = {}
        self._codes: dict[str, AuthorizationCode] = {}
        self._tokens: dict[str, AccessToken] = {}

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        return self._clients.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        assert client_info.client_id is not None
        self._clients[client_info.client_id] = client_info

    async def authorize(self, client: OAuthClientInformationFull, params: AuthorizationParams) -> str:
        if self._refuse:
            return construct_redirect_uri(
                str(params.redirect_uri), error="access_denied", error_description="You may not", state=params.state
            )
        code = AuthorizationCode(
            code=token_urlsafe(24),
            client_id=client.client_id or "",
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
            expires_at=time.time() + 60,
            scopes=params.scopes or [],
            code_challenge=params.code_challenge,
            resource=params.resource,
        )
        self._codes[code.code] = code
        return construct_redirect_uri(str(params.redirect_uri), code=code.code, state=params.state)

    async def load_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: str
    ) -> AuthorizationCode | None:
        return self._codes.get(authorization_code)

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: AuthorizationCode
    ) -> OAuthToken:
        del self._codes[authorization_code.code]
        token = AccessToken(
            token=token_urlsafe(24), client_id=client.client_id or "", scopes=[], resource=authorization_code.resource
        )
        self._tokens[token.token] = token
        return OAuthToken(access_token=token.token, token_type="Bearer", expires_in=3600)

    async def load_refresh_token(self, client: OAuthClientInformationFull, refresh_token: str) -> RefreshToken | None:
        return None

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        raise NotImplementedError

    async def load_access_token(self, token: str) -> AccessToken | None:
        return self._tokens.get(token)

    async def revoke_token(self, token: AccessToken | RefreshToken) -> None:
        self._tokens.pop(token.token, None)


def main() -> None:
    port = int(sys.argv[1])
    address = f"http://127.0.0.1:{port}"
    server: MCPServer[Any] = MCPServer(
        "signin",
        auth_server_provider=Provider("refuse" in sys.argv),
        auth=AuthSettings(
            issuer_url=AnyHttpUrl(address),
            resource_server_url=AnyHttpUrl(f"{address}/mcp"),
            validate_token_resource=False,
            client_registration_options=ClientRegistrationOptions(enabled=True),
        ),
    )

    @server.tool()
    def secret() -> str:
        """Tell what only those who signed in may know."""
        return "forty-two"

    server.run("streamable-http", port=port)


if __name__ == "__main__":
    main()
