"""Runs Examples/FastAPI with a real PostgreSQL, a local APNs, and simulated phones, and kills the service and the database while
messages are written. Prints the result as one line of JSON.

Usage: fastapi-drill.py PROGRAMS MESSAGES PHONES
PROGRAMS is the folder of sealedpush and device-simulator. Exit status: 0 if all is well, 1 otherwise.
"""

import collections
import contextlib
import hashlib
import http.client
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import uuid

sys.dont_write_bytecode = True
CHECKOUT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(CHECKOUT / "Clients/Python/src"))
POSTGRES = pathlib.Path("/usr/lib/postgresql/15/bin")
TOPIC = "com.example.app"
# Seconds after which a hanging test fails.
PATIENCE = 900
# PostgreSQL refuses to run as root.
AS_USER = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"] if os.getuid() == 0 else []


def until(what, condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(what)
        time.sleep(0.05)


class Drill:
    def __init__(self, programs, folder, phones):
        self.programs, self.folder = pathlib.Path(programs).resolve(), folder
        self.names = [f"phone-{number + 1}" for number in range(phones)]
        self.running = {}

    # Programs

    def start(self, name, words, **options):
        log = open(self.folder / f"{name}.log", "ab")
        self.running[name] = subprocess.Popen(
            [str(word) for word in words], stdin=subprocess.DEVNULL, stdout=options.pop("stdout", log), stderr=log,
            cwd=options.pop("cwd", self.folder), start_new_session=True, **options)

    def kill(self, name):
        self.running[name].kill()
        self.running.pop(name).wait()

    def stop_all(self):
        for name in reversed(list(self.running)):
            # After SIGTERM, PostgreSQL waits for its clients.
            self.running[name].send_signal(signal.SIGINT if name == "postgres" else signal.SIGTERM)
            try:
                self.running[name].wait(60)
            except subprocess.TimeoutExpired:
                self.kill(name)

    def keys(self, *words):
        words = [self.programs / "sealedpush", "keys", *words, "--keyring", "Keys"]
        return subprocess.run(words, cwd=self.folder, check=True, capture_output=True, text=True).stdout.strip()

    # PostgreSQL

    def make_database(self):
        self.data, self.socket = self.folder / "data", self.folder / "socket"
        for made in (self.data, self.socket):
            made.mkdir()
            if AS_USER:
                shutil.chown(made, "postgres", "postgres")
        words = [*AS_USER, POSTGRES / "initdb", "-D", self.data, "-U", "chat", "-A", "trust", "-E", "UTF8", "--locale=C", "-N"]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL, cwd="/")
        self.start_database()
        for name in ("Clients/Python/src/sealed_push/postgres.sql", "Examples/FastAPI/schema.sql"):
            self.sql("--file", CHECKOUT / name)

    def start_database(self):
        def answers():
            words = [POSTGRES / "pg_isready", "-q", "-h", self.socket, "-U", "chat", "-d", "postgres"]
            return subprocess.run(words, cwd="/").returncode == 0

        def started():
            # Remaining processes of the killed server may hold its memory for a moment.
            if "postgres" not in self.running or self.running["postgres"].poll() is not None:
                words = ["-D", self.data, "-k", self.socket, "-c", "listen_addresses=", "-c", "max_connections=40"]
                self.start("postgres", [*AS_USER, POSTGRES / "postgres", *words], cwd="/")
            return answers()

        until("the database", started)

    def sql(self, *words):
        words = [POSTGRES / "psql", "-h", self.socket, "-U", "chat", "-d", "postgres", "-qtAX", "-v", "ON_ERROR_STOP=1", *words]
        return subprocess.run(words, check=True, capture_output=True, text=True, cwd="/").stdout.strip()

    # The service

    def start_service(self):
        with contextlib.suppress(FileNotFoundError):
            (self.folder / "chat.sock").unlink()
        environment = os.environ | {
            "DATABASE_URL": f"host={self.socket} user=chat dbname=postgres", "SENDER_SECRET": self.secret, "LEASE_SECONDS": "10",
            "LOCAL_APNS": str(self.folder / "APNs/address.json"), "PYTHONPATH": str(CHECKOUT / "Clients/Python/src"),
            "PYTHONDONTWRITEBYTECODE": "1"}
        words = [sys.executable, "-m", "uvicorn", "chat:app", "--uds", self.folder / "chat.sock", "--no-access-log"]
        self.start("service", words, cwd=CHECKOUT / "Examples/FastAPI", env=environment)

    def request(self, path, body, account, method="POST", scheme="Bearer"):
        """Returns the status and the response; status 0 if there was none. `body` may be bytes; no account means no login."""
        connection = http.client.HTTPConnection("localhost", timeout=60)
        connection.sock = socket.socket(socket.AF_UNIX)
        try:
            connection.sock.settimeout(60)
            connection.sock.connect(str(self.folder / "chat.sock"))
            headers = {"content-type": "application/json"} | ({"authorization": f"{scheme} {account}"} if account else {})
            connection.request(method, path, body if isinstance(body, bytes) else json.dumps(body), headers)
            answer = connection.getresponse()
            text = answer.read()
            return answer.status, json.loads(text) if text.startswith(b"{") else None
        except (OSError, http.client.HTTPException):
            return 0, None
        finally:
            connection.close()

    def insist(self, path, body, account="nina", method="POST", scheme="Bearer"):
        """Retries the same request, as an app does, until there is a response."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            status, answer = self.request(path, body, account, method, scheme)
            if status not in (0, 503):
                return status, answer
            time.sleep(0.05)
        raise TimeoutError(path)

    # Phones

    def start_phones(self):
        (self.folder / "APNs").mkdir(mode=0o700)
        # aioapns 4.0 waits forever once the number of streams is lowered after an error.
        words = ["apns", "--folder", "APNs", "--faults", '{"streamsAfterError": 1000}']
        self.start("apns", [self.programs / "device-simulator", *words])
        until("the local APNs", (self.folder / "APNs/address.json").exists)
        self.keys("generate", "sender", "newsroom")
        self.secret = (self.folder / "Keys/keyring.txt").read_text().split("name: newsroom", 1)[1].split("\nsecret: ", 1)[1].split()[0]
        for name in self.names:
            self.keys("generate", "device", name, "--topic", TOPIC)
        words = ["run", "--device", "phone", "--count", len(self.names), "--apns", "APNs", "--topic", TOPIC, "--keyring", "Keys",
                 "--trust", "newsroom", "--state", "State", "--json"]  # fmt: skip
        with open(self.folder / "phones.jsonl", "wb") as lines:
            self.start("phones", [self.programs / "device-simulator", *words], stdout=lines)
        until("the phones", lambda: len(self.events("online")) >= len(self.names))
        self.tokens = {event["device"]: event["token"] for event in self.events("online")}

    def events(self, kind):
        lines = (self.folder / "phones.jsonl").read_text().split("\n")[:-1]
        return [event for event in map(json.loads, lines) if event.get("event") == kind]

    def enroll(self, name, account):
        status, said = self.insist(self.path(name), self.registration(name), account, "PUT")
        for asked in said["challenges"] if status == 200 else ():
            answer = self.keys("challenge", name, "--reply", asked["challenge"], "--trust", "newsroom")
            status, said = self.insist(f"{self.path(name)}/answers", {"answer": answer}, account)
        return status, said

    def path(self, name):
        return "/v1/phones/" + self.keys("show", name).split("enrollment:", 1)[1].split()[0]

    def registration(self, name):
        return {"token": self.tokens[name], "record": self.keys("export", name, "--record"), "environment": "production"}


def enrollments(drill):
    """Enrolls Alice's phones while others try to misuse them. Returns a list of everything that went wrong."""
    wrong = []

    def expect(what, found, *wanted):
        if found not in wanted:
            wrong.append(f"{what}: {found}")

    def put(body, account):
        return drill.insist(drill.path("phone-1"), body, account, "PUT")

    registration = drill.registration("phone-1")
    expect("nobody", put(registration, "mallory's guess")[0], 401)
    # Mallory sends Alice's record first, and can't answer.
    expect("mallory first", put(registration, "mallory")[0], 200)
    for name in drill.names:
        expect(f"enroll {name}", drill.enroll(name, "alice")[0], 204)
    expect("mallory later", put(registration, "mallory")[0], 409)
    # The phone is passed to another account, and comes back.
    for before, after in (("alice", "mallory"), ("mallory", "alice")):
        expect("logout", drill.insist(drill.path("phone-1"), {}, before, "DELETE")[0], 204)
        expect("login", drill.enroll("phone-1", after)[0], 204)
    expect("again", put(registration, "alice")[1].get("challenges"), [])
    expect("altered", put(registration | {"record": registration["record"][:-1]}, "alice")[0], 400)
    # Rotation: the new key is challenged, and the response to the older record has the newest one.
    drill.keys("rotate", "phone-1")
    expect("rotate", drill.enroll("phone-1", "alice")[0], 204)
    status, said = put(registration, "alice")
    expect("older", (status, said["code"], said["record"] != registration["record"]), (409, "rolled-back", True))
    message = {"id": str(uuid.uuid4()), "to": "nobody", "text": "x"}
    expect("message", drill.insist("/messages", message)[0], 201)
    expect("message again", drill.insist("/messages", message)[0], 201)
    expect("another under its id", drill.insist("/messages", message | {"text": "y"})[0], 409)
    expect("too long", drill.insist("/messages", message | {"id": str(uuid.uuid4()), "to": "alice", "text": "x" * 3000})[0], 422)
    expect("devices", drill.sql("-c", "SELECT count(*) FROM sealed_push_device"), str(len(drill.names)))
    return wrong


def leavings(drill):
    """Logs a phone in, out, and in again, without a login for the logout. Returns a list of everything that went wrong."""
    from sealed_push import Sender
    from sealed_push.testing import Phone

    wrong, path = [], "/v1/leavings"
    sender = Sender(drill.secret, topic=TOPIC)

    def expect(what, found, *wanted):
        if found not in wanted:
            wrong.append(f"{what}: {found}")

    def phone():
        return Phone(topic=TOPIC, trusting=[sender.public_key])

    def log_in(phone, account):
        """Enrolls the phone and returns the last status."""
        place = f"/v1/phones/{phone.enrollment}"
        body = {"record": phone.record, "token": os.urandom(32).hex(), "environment": "production"}
        status, said = drill.insist(place, body, account, "PUT")
        for asked in said["challenges"] if status == 200 else ():
            answer = phone.answer(asked["challenge"])
            status, _ = drill.insist(f"{place}/answers", {"answer": answer}, account)
        return status

    def leave(text, account=None):
        status, said = drill.insist(path, {"leaving": text}, account)
        return status if status == 204 else (status, said["code"])

    def owners(phone):
        found = drill.sql("-c", f"SELECT account FROM sealed_push_device WHERE enrollment = '{phone.enrollment}' ORDER BY account")
        return found.split()

    one, other = phone(), phone()
    for each in (one, other):
        expect("first login", log_in(each, "mallory"), 204)
    # Another account that can't prove the key has a row, too.
    older = {"record": one.record, "token": "abcd", "environment": "production"}
    expect("claim", drill.insist(f"/v1/phones/{one.enrollment}", older, "alice", "PUT")[0], 409)
    message = {"id": str(uuid.uuid4()), "to": "mallory", "text": "in transit"}
    expect("message", drill.insist("/messages", message)[0], 201)
    left = one.leave()
    expect("logout", leave(left), 204)
    expect("after the logout", (owners(one), owners(other)), ([], ["mallory"]))
    waiting = "SELECT count(*) FROM push JOIN sealed_push_device AS device ON device.id = push.device WHERE enrollment = "
    expect("waiting pushes", drill.sql("-c", f"{waiting}'{one.enrollment}'"), "0")
    for account in ("mallory", "alice"):
        expect(f"login as {account}", log_in(one, account), 204)
        expect("replayed", leave(left), 204)
        expect("after the replay", owners(one), [account])
        left = one.leave()
        # A login doesn't matter, whether it is right or wrong.
        expect("logout again", leave(left, account if account == "alice" else "mallory's guess"), 204)
        expect("after the logout", owners(one), [])
    expect("login after all", log_in(one, "alice"), 204)

    left = one.leave()
    foreign = other.leave()
    refused = {
        "nothing": ("", "malformed"), "no prefix": (left[12:], "malformed"), "cut": (left[:-1], "malformed"),
        "a record": (one.record, "malformed"), "a number": (7, "malformed"), "a surrogate": ("pushleaving.\ud800", "malformed"),
        "altered": (left[:-4] + ("AAAA" if left[-4:] != "AAAA" else "BBBB"), "bad-signature"),
        "another's signature": (left[:66] + foreign[66:], "bad-signature"),
    }  # fmt: skip
    for name, (text, code) in refused.items():
        expect(name, leave(text), (400, code))
    whole = json.dumps({"leaving": left}).encode()
    for name, body in {
        "an unknown member": {"leaving": left, "user": "alice"}, "an array": [left], "no member": {},
        "not JSON": b"leaving", "not UTF-8": whole[:-2] + b'\xff"}', "UTF-16": whole.decode().encode("utf-16-le"),
        "nothing at all": b"",
    }.items():  # fmt: skip
        status, said = drill.insist(path, body, None)
        expect(name, (status, said and said.get("code")), (400, "malformed"))
    for body in (whole.ljust(1025), {"leaving": "x" * 100_000}):
        status, said = drill.insist(path, body, None)
        expect("too large", (status, said and said["code"]), (413, "body-too-large"))
    expect("still there", owners(one), ["alice"])
    expect("padded", drill.insist(path, whole.ljust(1024), None)[0], 204)
    expect("gone", owners(one), [])
    expect("GET", drill.insist(path, {}, None, "GET")[0], 405)

    for scheme, status in (("bearer", 204), ("BEARER", 204), ("Bearer ", 204), ("Basic", 401), ("Bearerx", 401)):
        expect(scheme, drill.insist("/v1/sender-set", {}, "alice", "GET", scheme)[0], status)
    for account in ("", "alice nina", "\xe9"):
        expect(f"login {account!r}", drill.insist("/v1/sender-set", {}, account, "GET")[0], 401)
    drill.sql("-c", "DELETE FROM sealed_push_device WHERE account = 'mallory'")
    return wrong


def main(programs, messages, phones):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="chat"))
    folder.chmod(0o711)
    drill = Drill(programs, folder, int(phones))
    count = int(messages)
    texts = [f"message {number + 1} of {count}" for number in range(count)]
    good = False
    try:
        drill.make_database()
        drill.start_phones()
        drill.sql("-c", "".join(
            f"INSERT INTO login VALUES ('\\x{hashlib.sha256(name.encode()).hexdigest()}', '{name}');"
            for name in ("nina", "alice", "mallory")))  # fmt: skip
        drill.start_service()
        wrong = enrollments(drill) + leavings(drill)

        written = []

        def write(own):
            for text in own:
                body = {"id": str(uuid.uuid4()), "to": "alice", "text": text}
                written.append(drill.insist("/messages", body)[0])

        writers = [threading.Thread(target=write, args=(texts[number::4],)) for number in range(4)]
        for writer in writers:
            writer.start()
        kills = collections.Counter()
        for part in range(1, 7):
            # At points in the number of messages, not in time, while the service sends.
            until("messages", lambda part=part: len(written) >= count * part // 7)
            if part % 2:
                drill.kill("service")
                drill.start_service()
                kills["service"] += 1
            else:
                os.killpg(drill.running["postgres"].pid, signal.SIGKILL)
                drill.running.pop("postgres").wait()
                drill.start_database()
                kills["database"] += 1
        for writer in writers:
            writer.join()

        def all_shown():
            return len({(event["device"], event["body"]) for event in drill.events("notification")}) >= count * len(drill.names)

        until("the phones' notifications", all_shown)
        until("the table to be empty", lambda: drill.sql("-c", "SELECT count(*) FROM push") == "0")
        shown = collections.Counter(
            (event["device"], event["body"]) for event in drill.events("notification") if not event["replaced"])
        again = sum(1 for event in drill.events("notification") if event["replaced"])
        missing = sum(1 for name in drill.names for text in texts if shown[name, text] == 0)
        twice = sum(1 for times in shown.values() if times > 1)
        failed = [event for event in drill.events("notification") if event["outcome"] != "opened"]
        stored = int(drill.sql("-c", "SELECT count(*) FROM message WHERE reader = 'alice'"))
        good = not wrong and not failed and missing == twice == 0 and stored == count and written == [201] * count
        print(json.dumps({
            "good": good, "messages": count, "phones": len(drill.names), "missing": missing, "twice": twice,
            "again": again, "stored": stored, "failed": len(failed), "kills": dict(kills), "wrong": wrong}))  # fmt: skip
    finally:
        drill.stop_all()
        if good:
            shutil.rmtree(folder)
        else:
            for log in sorted(folder.glob("*.log")):
                print(f"== {log}\n{log.read_text(errors='replace')[-3000:]}", file=sys.stderr)
            print(f"everything is in {folder}", file=sys.stderr)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
