"""Serves a PhoneRouter as an ASGI application, by itself or mounted in another one.

    app.mount("", sealed_push.asgi.application(router))  # in FastAPI or Starlette, after the application's own routes
"""

import asyncio
import inspect
from collections import Counter
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from .router import PhoneRouter, Request

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]


def application(router: PhoneRouter) -> Application:
    """Returns an ASGI 3 application for asyncio. It answers paths that begin with `/v1/`, after the place where it is mounted."""

    async def answer(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            return await _live(receive, send)
        if scope["type"] != "http":
            return await send({"type": "websocket.close", "code": 1000})
        names = Counter(name.lower() for name, _ in scope["headers"])
        headers = {
            name.lower().decode("latin-1"): value.decode("latin-1")
            for name, value in scope["headers"]
            if names[name.lower()] == 1
        }
        # Frameworks differ in whether they remove the place of a mounted application from the path.
        path = scope["path"].removeprefix(scope.get("root_path", ""))
        request = Request(scope["method"], path, headers, scope, lambda limit: _read(receive, limit))
        response = await router.respond(request, _call)
        fields = {**response.headers, "Content-Length": str(len(response.body))} if response.body else response.headers
        raw = [(name.lower().encode(), value.encode()) for name, value in fields.items()]
        await send({"type": "http.response.start", "status": response.status, "headers": raw})
        await send({"type": "http.response.body", "body": response.body})

    return answer


async def _call(function: Callable[..., Any], *arguments: Any) -> Any:
    if inspect.iscoroutinefunction(function):
        return await function(*arguments)
    result = await asyncio.to_thread(function, *arguments)
    return await result if inspect.isawaitable(result) else result


async def _read(receive: Receive, limit: int) -> bytes | None:
    body = bytearray()
    while len(body) <= limit:
        message = await receive()
        if message["type"] != "http.request":
            return None
        body += message.get("body", b"")
        if not message.get("more_body", False):
            break
    return bytes(body)


async def _live(receive: Receive, send: Send) -> None:
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return
