"""The app's own client, in a simulated phone, enrolls with a router over a real server. Set SEALED_PUSH_PROGRAMS to the folder
of device-simulator."""

import os
import pathlib
import socket
import subprocess
import tempfile
import threading
import unittest
import wsgiref.simple_server

import sealed_push
from sealed_push import Device, Sender, asgi

from .backends import MemoryStore, django, django_application, router_of
from .support import NINA, TOPIC

try:
    import uvicorn
except ImportError:
    uvicorn = None
PROGRAMS = os.environ.get("SEALED_PUSH_PROGRAMS")
SENDER = Sender(sealed_push.generate_sender_secret(), topic=TOPIC)


@unittest.skipUnless(PROGRAMS, "set SEALED_PUSH_PROGRAMS")
class App(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())
        apns = self.start("apns", "--folder", "APNs", "--json", "--log", "off")
        while not pathlib.Path(self.folder, "APNs/address.json").exists():
            self.assertIsNone(apns.poll())

    def start(self, *words):
        words = [pathlib.Path(PROGRAMS, "device-simulator"), *words]
        output = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        started = subprocess.Popen(words, cwd=self.folder, stdin=subprocess.DEVNULL, text=True, **output)
        self.addCleanup(started.stdout.close)
        self.addCleanup(started.wait)
        self.addCleanup(started.kill)
        return started

    def phone(self):
        return ["--device", "phone", "--topic", TOPIC, "--trust", SENDER.public_key, "--state", "State", "--json"]

    def launch(self, port, account):
        """Runs the app until it is enrolled, or has failed. Returns the line that says so."""
        running = self.start("run", *self.phone(), "--apns", "APNs", "--server", f"http://127.0.0.1:{port}", "--login", account)
        for line in running.stdout:
            if '"event":"enrolled"' in line or "can't enroll" in line:
                running.terminate()
                running.wait()
                return line
        return self.fail("the phone ended")

    def check(self, port, store):
        for _ in range(2):
            self.assertIn('"enrolled"', self.launch(port, "alice"))
        enrollment, = store.entries
        entry, = store.load(enrollment, "alice").entries
        self.assertEqual(len(Device.from_dict(entry.state).proven), 1)
        pathlib.Path(self.folder, "push.apns").write_bytes(SENDER.seal(NINA, Device.from_dict(entry.state)).payload)
        delivered = self.start("deliver", "push.apns", *self.phone())
        self.assertIn(NINA["alert"]["body"], delivered.stdout.read())
        self.assertIn("another account", self.launch(port, "bob"))
        self.assertIn("can't enroll", self.launch(port, "nobody"))
        self.assertEqual(store.load(enrollment, "alice").entries[0].account, "alice")

    @unittest.skipIf(django is None, "needs Django")
    def test_over_django(self):
        from django.urls import include, path

        from sealed_push.django import urls

        store = MemoryStore()
        application = django_application([path("", include(urls(router_of(SENDER, store))))])
        server = self.enterContext(wsgiref.simple_server.make_server("127.0.0.1", 0, application, handler_class=Quiet))
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(server.shutdown)
        self.check(server.server_port, store)

    @unittest.skipIf(uvicorn is None, "needs uvicorn")
    def test_over_asgi(self):
        store = MemoryStore()
        server = uvicorn.Server(uvicorn.Config(asgi.application(router_of(SENDER, store)), log_level="error"))
        own = self.enterContext(socket.create_server(("127.0.0.1", 0)))
        thread = threading.Thread(target=server.run, args=([own],))
        thread.start()

        def end():
            server.should_exit = True
            thread.join()

        self.addCleanup(end)
        self.check(own.getsockname()[1], store)


class Quiet(wsgiref.simple_server.WSGIRequestHandler):
    def log_message(self, *arguments):
        pass
