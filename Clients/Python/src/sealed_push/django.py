"""Serves a PhoneRouter in Django 3.2 or later.

    urlpatterns = [path("", include(sealed_push.django.urls(router)))]
"""

import inspect
from collections.abc import Callable, Coroutine
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import re_path
from django.views.decorators.csrf import csrf_exempt

from .errors import SettingError
from .router import PhoneRouter, Request, Response


def urls(router: PhoneRouter) -> list[Any]:
    """Returns the URL patterns of the phones' paths, which begin with `v1/`.

    The views are synchronous, so the router's functions must be, too; they may use Django's models. A phone proves its login
    with the `Authorization` header, not with a cookie, so the views don't check CSRF tokens.

    Raises SettingError: `asynchronous`.
    """
    if any(inspect.iscoroutinefunction(each) for each in router._functions):
        raise SettingError("asynchronous")

    def view(request: HttpRequest, place: str) -> HttpResponse:
        async def read(limit: int) -> bytes | None:
            try:
                body: bytes = request.read(limit + 1)
            except OSError:
                return None
            return body

        headers = {name.lower(): value for name, value in request.headers.items()}
        made = _result(router.respond(Request(request.method, f"/{place}", headers, request, read), _call))
        response = HttpResponse(made.body, status=made.status)
        if not made.body:
            del response["Content-Type"]
        for name, value in made.headers.items():
            response[name] = value
        return response

    return [re_path(r"^(?P<place>v1/(?:phones/(?s:.*)|leavings|sender-set))\Z", csrf_exempt(view))]


async def _call(function: Callable[..., Any], *arguments: Any) -> Any:
    return function(*arguments)


def _result(coroutine: Coroutine[Any, Any, Response]) -> Response:
    """Runs a coroutine that never waits, so that its functions are called outside of an event loop, as Django requires."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        response: Response = end.value
        return response
    coroutine.close()
    raise SettingError("asynchronous")
