"""Sends hostile requests to a real `sealedpush serve`: each kind of wrong request, some of them slow, while idle connections
stay open and one good caller keeps sealing.
Prints the result as one line of JSON.

Usage: hostile-callers.py PROGRAMS REQUESTS IDLE [SEED]
PROGRAMS is the folder of sealedpush. Exit status: 0 if the good caller got every response, no status was 5xx, and memory did
not grow; 1 otherwise.
"""

import asyncio
import collections
import json
import os
import pathlib
import random
import resource
import subprocess
import sys
import tempfile

TOPIC = "com.example.app"
TOKEN = "hostile-callers-do-not-know-this-1"
AT_ONCE = 64
# The most that memory may grow between the first and the last fifth of the requests, because the allocator keeps some.
GROWTH = 24 << 20


class Service:
    def __init__(self, programs, folder):
        self.program, self.folder = pathlib.Path(programs).resolve() / "sealedpush", folder
        self.run("keys", "generate", "sender", "newsroom", "--keyring", "Keys")
        self.run("keys", "generate", "device", "phone", "--topic", TOPIC, "--keyring", "Keys")
        self.recipient = self.run("keys", "export", "phone", "--keyring", "Keys").strip()
        token = folder / "token"
        token.write_text(TOKEN + "\n")
        token.chmod(0o600)
        self.process = subprocess.Popen(
            [self.program, "serve", "--from", "newsroom", "--topic", TOPIC, "--keyring", "Keys", "--listen", "127.0.0.1:0",
             "--token-file", "token", "--json"],
            cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=open(folder / "log", "wb"), text=True)  # fmt: skip
        self.port = json.loads(self.process.stdout.readline())["port"]

    def run(self, *words):
        done = subprocess.run([self.program, *words], cwd=self.folder, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{words}: {done.stderr}")
        return done.stdout

    def memory(self):
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
        return 0

    def stop(self):
        self.process.terminate()
        return self.process.wait(120)


def request(method, path, body=b"", token=TOKEN, kind="application/json", more=""):
    head = f"{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n"
    if token is not None:
        head += f"authorization: Bearer {token}\r\n"
    if body:
        head += f"content-type: {kind}\r\ncontent-length: {len(body)}\r\n"
    return (head + more + "\r\n").encode() + body


class Hostile:
    """The requests by kind: pieces, each with a pause before the next."""

    def __init__(self, seed, recipient):
        self.random = random.Random(seed)
        content = {"alert": {"title": "Nina", "body": "Lunch?"}}
        self.good = json.dumps({"recipient": recipient, "unverified": True, "content": content}).encode()
        self.paths = ["/v1/messages", "/v1/seal", "/v1/logins"]
        self.bodies = [
            b"[]", b"null", b"true", b'"text"', b"1e999", b"-0", b"{", b"}", b'{"a":1,"a":2}', b"\0" * 100, b"\xff\xfe{}", b"\xef\xbb\xbf{}",
            b'{"user":"\\ud800"}', b'{"user":1e400}', b"[" * 60_000, b'{"a":' * 10_000, b'{"user":"' + b"x" * 60_000 + b'"}', b"9" * 60_000,
            b'{"recipient":"push1qqqq","content":{}}', b'{"content":{"alert":[]}}', b'{"device":"..","content":{"alert":{"body":"b"}}}',
            b" " * 65_000, b'{"user":"a","content":{"alert":{"body":"b"},"expires":-1}}',
        ]  # fmt: skip
        self.kinds = [
            self.wrong_token, self.no_token, self.wrong_body, self.changed_body, self.too_large, self.cut_off, self.slow, self.huge_head,
            self.many_headers, self.wrong_chunks, self.noise, self.wrong_line, self.wrong_type, self.wrong_path, self.batch, self.two_lengths,
            self.pipelined,
        ]  # fmt: skip

    def next(self):
        make = self.random.choice(self.kinds)
        return make.__name__, make()

    def text(self, count):
        return "".join(self.random.choice("abcdefghijklmnop/%-_.~") for _ in range(count))

    def path(self):
        return self.random.choice(self.paths)

    def wrong_token(self):
        tokens = ["", "x", TOKEN[:-1], TOKEN + "x", TOKEN.upper(), "\x00", "é" * 20, self.text(30_000)]
        return [request("GET", "/v1/outbox", token=self.random.choice(tokens))]

    def no_token(self):
        return [request("POST", self.path(), self.good, token=None)]

    def wrong_body(self):
        return [request("POST", self.path(), self.random.choice(self.bodies))]

    def changed_body(self):
        body = bytearray(self.good)
        for _ in range(self.random.randint(1, 4)):
            body[self.random.randrange(len(body))] = self.random.randrange(256)
        return [request("POST", self.path(), bytes(body))]

    def too_large(self):
        return [request("POST", self.path(), b" " * self.random.choice([65_537, 200_000]))]

    def cut_off(self):
        whole = request("POST", self.path(), self.good)
        return [whole[: self.random.randrange(1, len(whole))]]

    def slow(self):
        whole = request("POST", self.path(), self.good)
        places = sorted(self.random.sample(range(1, len(whole)), 4))
        return [whole[start:end] for start, end in zip([0, *places], [*places, len(whole)])]

    def huge_head(self):
        return [request("GET", "/v1/outbox", more=f"x: {self.text(self.random.choice([17_000, 70_000]))}\r\n")]

    def many_headers(self):
        return [request("GET", "/v1/outbox", more="".join(f"x-{number}: y\r\n" for number in range(3_000)))]

    def wrong_chunks(self):
        head = request("POST", self.path(), more="content-type: application/json\r\ntransfer-encoding: chunked\r\n")
        return [head + self.random.choice([b"zz\r\n", b"-1\r\n", b"ffffffffffffffff\r\n", b"5\r\nab", b"2\r\n{}\r\n0\r\nx: y\r\n\r\n"])]

    def noise(self):
        start = self.random.choice([b"", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"])
        return [start + self.random.randbytes(self.random.choice([1, 100, 5_000]))]

    def wrong_line(self):
        lines = ["GET /v1/outbox", "GET  /v1/outbox HTTP/1.1", "G\0T / HTTP/1.1", "GET / HTTP/9.9", "GET http:// HTTP/1.1", " GET / HTTP/1.1"]
        return [self.random.choice(lines).encode() + b"\r\nhost: a\r\n\r\n"]

    def wrong_type(self):
        kinds = ["text/plain", "application/json; charset=utf-16", "multipart/form-data", "", "x" * 5_000]
        return [request("POST", self.path(), self.good, kind=self.random.choice(kinds))]

    def wrong_path(self):
        paths = ["/", "//v1//outbox", "/v1/../../etc/passwd", "/v1/devices/%00%ff", "/v1/phones/" + self.text(3_000), "/v1/outbox?" + self.text(2_000),
                 "/v1/devices?limit=-1", "/v1/devices?limit=99999999999999999999", "/v1/devices?after=%f0%9f"]  # fmt: skip
        return [request(self.random.choice(["GET", "PUT", "DELETE", "BREW", "HEAD"]), self.random.choice(paths))]

    def batch(self):
        lines = [self.random.choice([self.good, b"{}", b"", b"[", b'{"user":"nobody","content":{"alert":{"body":"b"}}}']) for _ in range(20)]
        return [request("POST", "/v1/seal", b"\n".join(lines), kind="application/x-ndjson")]

    def two_lengths(self):
        return [request("POST", self.path(), self.good, more="content-length: 5\r\ntransfer-encoding: chunked\r\n")]

    def pipelined(self):
        return [request("GET", "/v1/outbox", token="x").replace(b"connection: close\r\n", b"") * 50]


async def converse(port, pieces, answers, name):
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        answers[name, "refused"] += 1
        return
    try:
        for number, piece in enumerate(pieces):
            if number:
                await asyncio.sleep(0.2)
            writer.write(piece)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()
        line = await reader.readline()
        status = int(line.split()[1]) if line.startswith(b"HTTP/1.1 ") else 0
        answers[name, status] += 1
        while await reader.read(65_536):
            pass
    except (OSError, ValueError):
        answers[name, 0] += 1
    finally:
        writer.close()


async def good(service, hostile, is_over, counts):
    while not is_over.is_set():
        reader, writer = await asyncio.open_connection("127.0.0.1", service.port)
        writer.write(request("POST", "/v1/seal", hostile.good))
        answer = await reader.read()
        writer.close()
        is_right = answer.startswith(b"HTTP/1.1 200 ") and b"custom-encrypted-message" in answer
        counts["good" if is_right else "wrong"] += 1
        await asyncio.sleep(0.02)


async def attack(service, count, idle_count, seed):
    hostile, answers, counts = Hostile(seed, service.recipient), collections.Counter(), collections.Counter()
    idle = []
    for _ in range(idle_count):
        idle.append(await asyncio.open_connection("127.0.0.1", service.port))
    is_over, slots, early = asyncio.Event(), asyncio.Semaphore(AT_ONCE), 0
    caller = asyncio.create_task(good(service, hostile, is_over, counts))
    tasks = set()

    async def one(name, pieces):
        try:
            await converse(service.port, pieces, answers, name)
        finally:
            slots.release()

    for number in range(count):
        await slots.acquire()
        task = asyncio.create_task(one(*hostile.next()))
        tasks.add(task)
        task.add_done_callback(tasks.discard)
        if number == count // 5:
            early = service.memory()
    await asyncio.gather(*tasks)
    late = service.memory()
    is_over.set()
    await caller
    for _, writer in idle:
        writer.close()
    statuses = collections.Counter()
    for (_, status), times in answers.items():
        statuses[str(status)] += times
    return {
        "requests": sum(answers.values()), "idle": idle_count, "good": counts["good"], "wrong": counts["wrong"],
        "statuses": dict(sorted(statuses.items())), "failed": sorted(f"{name} {status}" for name, status in answers if status == "refused" or 500 <= status),
        "memory": early, "growth": late - early,
    }  # fmt: skip


def main():
    programs, count, idle = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else random.randrange(1 << 32)
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with tempfile.TemporaryDirectory(prefix="sealed-push-hostile-") as folder:
        service = Service(programs, pathlib.Path(folder))
        try:
            figures = asyncio.run(attack(service, count, idle, seed))
        finally:
            status = service.stop()
        figures |= {"status": status, "seed": seed}
        print(json.dumps(figures))
        is_well = not figures["failed"] and figures["wrong"] == 0 and figures["good"] > 0 and status == 0
        sys.exit(0 if is_well and figures["growth"] < GROWTH else 1)


main()
