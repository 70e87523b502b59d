"""HTTP clients to model servers. Loading the trusted certificates takes 0.1 s and more, so that is done once."""

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ssl

    import httpx2


def http_client(*, local: bool) -> "httpx2.AsyncClient":
    """Return a client with the SDK's limits; ``local``: to this machine, past any proxy. Any thread may call it."""
    import openai

    return openai.DefaultAsyncHttpxClient(verify=_trusted(), trust_env=not local)


@cache
def _trusted() -> "ssl.SSLContext":
    import httpx2

    return httpx2.create_ssl_context()
