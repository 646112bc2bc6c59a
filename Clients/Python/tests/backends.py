"""Shared by the tests of PhoneRouter: two ways to send requests to it, and the stores."""

import asyncio
import functools
import inspect
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import types
import unittest

from sealed_push import asgi
from sealed_push.router import Found, PhoneRouter
from sealed_push.sqlite import SQLiteStore
from sealed_push.testing import Phone

try:
    import django
except ImportError:
    django = None
try:
    import psycopg_pool

    from sealed_push import postgres
except ImportError:
    psycopg_pool = None

TOKEN = "01" * 32
JSON = {"content-type": "application/json"}


class MemoryStore:
    """A store whose compare-and-set is one line."""

    def __init__(self):
        self.entries, self._lock = {}, threading.Lock()

    def load(self, enrollment, account):
        others = sum(each.account == account for key, found in self.entries.items() if key != enrollment for each in found)
        return Found(self.entries.get(enrollment, ()), others)

    def save(self, enrollment, account, found, entries):
        with self._lock:
            if self.load(enrollment, account) != found:
                return False
            self.entries[enrollment] = entries
            return True


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body
        self.json = json.loads(body) if body else {}
        self.code = self.json.get("code")

    def __repr__(self):
        return f"{self.status} {self.body!r}"


class Body:
    """A body that counts how much of it is read. `size` may exceed what there is, as if it were cut off."""

    def __init__(self, data=b"", size=None):
        self.data, self.size, self.read_bytes = data, len(data) if size is None else size, 0

    def chunk(self, most):
        chunk = self.data[self.read_bytes : self.read_bytes + most]
        self.read_bytes += len(chunk)
        return chunk

    # For WSGI.
    def read(self, size=-1):
        chunk = self.chunk(len(self.data) if size is None or size < 0 else size)
        if not chunk and self.read_bytes < self.size and size:
            raise OSError("cut off")
        return chunk

    def readline(self, size=-1):
        raise AssertionError


def over_asgi(router):
    """Returns a function that sends a request through the ASGI application."""
    app = asgi.application(router)

    async def exchange(method, path, body, headers, place):
        sent = []

        async def receive():
            chunk = body.chunk(5000)
            if not chunk and body.read_bytes < body.size:
                return {"type": "http.disconnect"}
            return {"type": "http.request", "body": chunk, "more_body": body.read_bytes < body.size}

        async def send(message):
            sent.append(message)

        raw = [(name.encode(), value.encode("latin-1")) for name, value in headers]
        await app(
            {"type": "http", "method": method, "path": place + path, "root_path": place, "headers": raw}, receive, send)
        assert [each["type"] for each in sent] == ["http.response.start", "http.response.body"]
        start, end = sent
        fields = {name.decode(): value.decode() for name, value in start["headers"]}
        return Answer(start["status"], fields, end["body"])

    def send(method, path, body=b"", headers=(), place=""):
        return asyncio.run(exchange(method, path, body if isinstance(body, Body) else Body(body), headers, place))

    return send


def over_django(router):
    """Returns a function that sends a request through Django's WSGI handler."""
    from django.urls import include, path

    from sealed_push import django as views

    return over_urls([path("", include(views.urls(router))), path("push/", include(views.urls(router)))])


def django_application(patterns):
    """Returns the WSGI application of a project in Django with these URL patterns."""
    from django.conf import settings
    from django.core.handlers.wsgi import WSGIHandler

    if not settings.configured:
        settings.configure(
            ALLOWED_HOSTS=["*"], LOGGING_CONFIG=None, MIDDLEWARE=["django.middleware.csrf.CsrfViewMiddleware"])
        django.setup()
    urls, handler = types.ModuleType("urls"), WSGIHandler()
    urls.urlpatterns = patterns

    def application(environ, start_response):
        settings.ROOT_URLCONF = urls
        return handler(environ, start_response)

    return application


def over_urls(patterns):
    """Returns a function that sends a request to a project in Django with these URL patterns."""
    handler = django_application(patterns)

    def send(method, path, body=b"", headers=(), place=""):
        body = body if isinstance(body, Body) else Body(body)
        environ = {
            "REQUEST_METHOD": method, "PATH_INFO": (place + path).encode().decode("latin-1"), "wsgi.input": body,
            "CONTENT_LENGTH": str(body.size), "SERVER_NAME": "localhost", "SERVER_PORT": "80"}
        for name, value in headers:
            key = name.upper().replace("-", "_")
            key = key if key.startswith("CONTENT_") and key != "CONTENT_ENCODING" else f"HTTP_{key}"
            # As in servers.
            environ[key] = f"{environ[key]},{value}" if key in environ else value
        begun = []
        said = handler(environ, lambda status, fields: begun.append((status, fields)))
        (status, fields), = begun
        names = {name.lower(): value for name, value in fields}
        body = b"".join(said)
        return Answer(int(status.split()[0]), names, body if "json" in names.get("content-type", "") else b"")

    return send


class Client:
    """A phone's requests, as the app's client sends them."""

    def __init__(self, router, over=over_asgi):
        """`over` makes a function that sends requests to the router, or to what has its place."""
        self.raw = over(router)

    def send(self, method, path, body=None, account="alice", place="", **headers):
        """`account` is the bearer token; None means no login. `body` may be bytes or a Body."""
        fields = dict(JSON) | ({"authorization": f"Bearer {account}"} if account is not None else {})
        fields |= {name.replace("_", "-"): value for name, value in headers.items()}
        data = body if isinstance(body, (bytes, Body)) else b"" if body is None else json.dumps(body).encode()
        fields = [(name, value) for name, value in fields.items() if value is not None]
        return self.raw(method, path, data, fields, place)

    def insist(self, *arguments, **options):
        """Repeats a request while the server says that it had no effect, as a phone does, but not forever."""
        for _ in range(1000):
            answer = self.send(*arguments, **options)
            if answer.status != 503:
                break
        return answer

    def register(self, phone, account="alice", token=TOKEN, environment="production"):
        body = {"record": phone.record, "token": token, "environment": environment}
        return self.insist("PUT", path_of(phone), body, account)

    def reply(self, phone, challenge, account="alice"):
        return self.insist("POST", path_of(phone) + "/answers", {"answer": phone.answer(challenge["challenge"])}, account)

    def enroll(self, phone, account="alice", token=TOKEN):
        """Registers the phone and answers. Returns the last response."""
        answer = self.register(phone, account, token)
        for challenge in answer.json.get("challenges", ()):
            answer = self.reply(phone, challenge, account)
        return answer

    def leave(self, phone, **options):
        return self.insist("POST", "/v1/leavings", {"leaving": phone.leave(**options)}, None)


def path_of(phone):
    return f"/v1/phones/{phone.enrollment}"


def router_of(sender, store=None, **options):
    """Returns a router whose logins are the accounts' names; `nobody` has none."""

    def account(request):
        return None if request.bearer == "nobody" else request.bearer

    store = MemoryStore() if store is None else store
    return PhoneRouter(sender, **{"account": account, "load": store.load, "save": store.save} | options)


def phone_for(sender, **options):
    return Phone(topic=sender.topic, trusting=[sender.public_key], **options)


# PostgreSQL


@functools.cache
def database():
    """Returns the address of an own server, which ends with this process. Raises SkipTest without PostgreSQL or psycopg."""
    programs = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"))
    if psycopg_pool is None or not programs:
        raise unittest.SkipTest("needs PostgreSQL and psycopg")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="postgres"))
    unittest.addModuleCleanup(database.cache_clear)
    unittest.addModuleCleanup(shutil.rmtree, folder)
    words = []
    if os.getuid() == 0:
        # It refuses to run as root.
        shutil.chown(folder, "postgres", "postgres")
        words = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"]
    data = ["-D", folder / "data"]
    made = [*words, programs[-1] / "initdb", *data, "-U", "push", "-A", "trust", "-E", "UTF8", "--locale=C", "-N"]
    subprocess.run(made, check=True, stdout=subprocess.DEVNULL, cwd="/")
    server = subprocess.Popen(
        [*words, programs[-1] / "postgres", *data, "-k", folder, "-c", "listen_addresses=", "-c", "max_connections=50", "-F"],
        cwd="/", stderr=subprocess.DEVNULL)
    unittest.addModuleCleanup(server.wait)
    unittest.addModuleCleanup(server.terminate)
    ready = [programs[-1] / "pg_isready", "-q", "-h", folder, "-U", "push", "-d", "postgres"]
    while subprocess.run(ready, cwd="/").returncode:
        if server.poll() is not None:
            raise RuntimeError("PostgreSQL ended")
    with psycopg_pool.ConnectionPool(f"host={folder} user=push dbname=postgres", min_size=1, max_size=1) as pool, pool.connection() as db:
        db.execute(postgres.schema())
        db.execute(postgres.schema())
    return f"host={folder} user=push dbname=postgres"


def postgres_store(test, options=""):
    """Returns a PostgresStore with an empty table. `options` are added to the address."""
    pool = test.enterContext(psycopg_pool.ConnectionPool(database() + options, min_size=1, max_size=8))
    with pool.connection() as db:
        db.execute("TRUNCATE sealed_push_device")
    store = postgres.PostgresStore(pool)
    store.execute = lambda statement: _executed(pool, statement)
    return store


def _executed(pool, statement):
    with pool.connection() as db:
        done = db.execute(statement)
        return done.fetchall() if done.description else []


def sqlite_store(test):
    """Returns a SQLiteStore with a new file."""
    path = pathlib.Path(test.enterContext(tempfile.TemporaryDirectory())) / "phones.sqlite"
    store = SQLiteStore(path)

    def execute(statement):
        with store._connection() as db:
            return db.execute(statement).fetchall()

    store.execute = execute
    return store
