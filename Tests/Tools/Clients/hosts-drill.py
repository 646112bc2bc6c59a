"""Several hosts with one outbox in PostgreSQL, as real programs. Writers enqueue in their own transactions, three couriers
deliver to a local APNs that sometimes fails, and simulated phones show what arrives. Meanwhile, couriers are killed,
connections are cut, the server is stopped immediately and started again, and its synchronous standby takes over.
Prints the result as one line of JSON.

Usage: hosts-drill.py PROGRAMS MESSAGES PHONES [KILLS [STOPS [SEED]]]
PROGRAMS is the folder of sealedpush and device-simulator. Exit status: 0 if each message was shown once, 1 otherwise.
"""

import collections
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
CHECKOUT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(CHECKOUT / "Clients/Python/src"))

import psycopg  # noqa: E402
import sealed_push  # noqa: E402

POSTGRES = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"))[-1]
TOPIC = "com.example.app"
COURIERS = 3
# Seconds without progress after which a hanging drill fails.
PATIENCE = 900
# PostgreSQL refuses to run as root.
AS_USER = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"] if os.getuid() == 0 else []


def until(what, condition):
    end, last = time.monotonic() + PATIENCE, None
    while True:
        found = condition()
        if found is True:
            return
        if found != last:
            end, last = time.monotonic() + PATIENCE, found
        if time.monotonic() > end:
            raise TimeoutError(f"{what}: {found}")
        time.sleep(0.02)


class Server:
    """One PostgreSQL server, on a socket in its own folder."""

    def __init__(self, folder, name):
        self.data, self.socket, self.log = folder / name, folder / f"{name}-socket", folder / f"{name}.log"
        self.process, self.is_synchronous = None, False
        self.socket.mkdir()
        for made in (folder, self.socket):
            if AS_USER:
                shutil.chown(made, "postgres", "postgres")

    def run(self, program, *words):
        subprocess.run([*AS_USER, POSTGRES / program, *words], check=True, stdout=subprocess.DEVNULL, cwd="/")

    def start(self):
        words = ["-D", self.data, "-k", self.socket, "-c", "listen_addresses=", "-c", "max_connections=60", "-c", "log_statement=none"]
        if self.is_synchronous:
            words += ["-c", "synchronous_standby_names=*"]
        ready = [POSTGRES / "pg_isready", "-q", "-h", self.socket, "-U", "push", "-d", "postgres"]

        def is_ready():
            # Remaining processes of the stopped server may hold its memory for a moment.
            if self.process is None or self.process.poll() is not None:
                with open(self.log, "ab") as log:
                    self.process = subprocess.Popen(
                        [*AS_USER, POSTGRES / "postgres", *words], stdout=log, stderr=log, cwd="/", start_new_session=True)
            return subprocess.run(ready, cwd="/").returncode == 0

        until("PostgreSQL", is_ready)

    def stop_at_once(self):
        """Stops the server as `pg_ctl stop -m immediate` does."""
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait()

    def sql(self, statement):
        words = [POSTGRES / "psql", "-h", self.socket, "-U", "push", "-d", "postgres", "-qtAX", "-v", "ON_ERROR_STOP=1"]
        done = subprocess.run([*words, "-c", statement], check=True, capture_output=True, text=True, cwd="/")
        return done.stdout.strip()


class Drill:
    def __init__(self, programs, folder, phones):
        self.programs, self.folder = pathlib.Path(programs).resolve(), folder
        self.names = [f"phone-{number + 1}" for number in range(phones)]
        self.running, self.lines = {}, b""
        self.shown, self.again, self.failed = collections.Counter(), 0, 0
        database = folder / "database"
        database.mkdir()
        self.first, self.second = Server(database, "first"), Server(database, "second")
        self.server = self.first
        self.address = (
            f"postgres://push@/postgres?host={self.first.socket},{self.second.socket}&target_session_attrs=read-write")

    # Programs

    def start(self, name, words, **options):
        log = open(self.folder / f"{name}.log", "ab")
        self.running[name] = subprocess.Popen(
            [str(word) for word in words], stdin=subprocess.DEVNULL, stdout=options.pop("stdout", log), stderr=log,
            cwd=self.folder, start_new_session=True, env=os.environ | {"XDG_STATE_HOME": "/dev/null"})

    def sealedpush(self, *words):
        words = [self.programs / "sealedpush", *words]
        done = subprocess.run(words, cwd=self.folder, capture_output=True, text=True, env=os.environ | {"XDG_STATE_HOME": "/dev/null"})
        if done.returncode:
            raise RuntimeError(f"{words}: {done.stderr}")
        return done.stdout.strip()

    def start_courier(self, number):
        self.start(f"courier-{number}", [self.programs / "sealedpush", "work", "--outbox", self.address, "--apns", "APNs"])

    def stop_all(self):
        for process in reversed(list(self.running.values())):
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
        for server in (self.first, self.second):
            if server.process and server.process.poll() is None:
                server.stop_at_once()

    # PostgreSQL

    def make_database(self):
        self.first.run("initdb", "-D", self.first.data, "-U", "push", "-A", "trust", "-E", "UTF8", "--locale=C", "-N")
        self.first.start()
        self.first.run("pg_basebackup", "-h", self.first.socket, "-U", "push", "-D", self.second.data, "-R", "-X", "stream", "-c", "fast")
        self.second.start()
        self.first.stop_at_once()
        self.first.is_synchronous = True
        self.first.start()
        until("a synchronous standby", lambda: self.first.sql("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") == "1")
        self.sealedpush("outbox", "status", "--outbox", self.address)
        self.first.sql("CREATE TABLE message(id bigint PRIMARY KEY, body text NOT NULL)")

    def fail_over(self):
        """Ends the server permanently; its standby takes over."""
        self.first.stop_at_once()
        self.second.run("pg_ctl", "promote", "-D", self.second.data, "-w")
        self.server = self.second

    def cut_connections(self, chance):
        try:
            self.server.sql(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend'"
                f" AND pid <> pg_backend_pid() AND random() < {chance}")
        except subprocess.CalledProcessError:
            pass

    # Phones

    def start_phones(self, seed):
        faults = {"resets": 0.02, "unavailable": 0.02, "tooManyRequests": 0.02, "duplicates": 0.05, "goAwayEvery": 400,
                  "streamsAfterError": 1000}  # fmt: skip
        words = ["apns", "--folder", "APNs", "--seed", seed, "--faults", json.dumps(faults), "--log", "off"]
        self.start("apns", [self.programs / "device-simulator", *words])
        until("the local APNs", (self.folder / "APNs/address.json").exists)
        self.sealedpush("keys", "generate", "sender", "newsroom", "--keyring", "Keys")
        self.secret = (self.folder / "Keys/keyring.txt").read_text().split("name: newsroom", 1)[1].split("\nsecret: ", 1)[1].split()[0]
        for name in self.names:
            self.sealedpush("keys", "generate", "device", name, "--topic", TOPIC, "--keyring", "Keys")
        self.keys = {name: self.sealedpush("keys", "export", name, "--keyring", "Keys") for name in self.names}
        words = ["run", "--device", "phone", "--count", len(self.names), "--apns", "APNs", "--topic", TOPIC, "--keyring", "Keys",
                 "--trust", "newsroom", "--state", "State", "--json"]  # fmt: skip
        with open(self.folder / "phones.jsonl", "wb") as lines:
            self.start("phones", [self.programs / "device-simulator", *words], stdout=lines)
        self.output = open(self.folder / "phones.jsonl", "rb")
        self.tokens = {}
        until("the phones", lambda: self.read() or len(self.tokens) >= len(self.names) or len(self.tokens))
        with open(self.folder / "tokens.jsonl", "w") as lines:
            for name in self.names:
                lines.write(json.dumps({"device": name, "token": self.tokens[name]}) + "\n")
        self.sealedpush("device", "enroll", "--list", "tokens.jsonl", "--keyring", "Keys", "--outbox", self.address)

    def read(self):
        """Reads the phones' new output."""
        *lines, self.lines = (self.lines + self.output.read()).split(b"\n")
        for event in map(json.loads, lines):
            if event.get("event") == "online":
                self.tokens[event["device"]] = event["token"]
            elif event.get("event") == "notification":
                self.failed += event["outcome"] != "opened"
                if event["replaced"]:
                    self.again += 1
                else:
                    self.shown[event["device"], event["body"]] += 1

    # Writers

    def write(self, numbers, answers):
        """Writes each message and its push in one transaction, and retries until it is committed."""
        sender = sealed_push.Sender(self.secret, topic=TOPIC)
        db = None
        for number in numbers:
            name = self.names[number % len(self.names)]
            push = sender.seal_unverified({"alert": {"body": f"message {number}"}}, self.keys[name])
            arguments = sealed_push.enqueue_arguments(push, name, key=f"message {number}")
            while True:
                try:
                    if db is None:
                        db = psycopg.connect(self.address, prepare_threshold=1)
                    with db.transaction():
                        body = f"message {number}"
                        db.execute("INSERT INTO message VALUES (%s, %s) ON CONFLICT DO NOTHING", [number, body])
                        answers.append(db.execute(sealed_push.ENQUEUE, arguments).fetchone()[0])
                    break
                except psycopg.OperationalError:
                    db = None
                    time.sleep(0.1)


def main(programs, messages, phones, kills="10", stops="3", seed=None):
    seed = seed or str(random.randrange(2**32))
    chance = random.Random(int(seed))
    count, kills, stops = int(messages), int(kills), int(stops)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="hosts"))
    folder.chmod(0o711)
    drill = Drill(programs, folder, int(phones))
    good, begin = False, time.monotonic()
    try:
        drill.make_database()
        drill.start_phones(seed)
        for number in range(COURIERS):
            drill.start_courier(number)
        answers = []
        writers = [threading.Thread(target=drill.write, args=(range(part, count, 4), answers)) for part in range(4)]
        for writer in writers:
            writer.start()

        # At points in the number of shown messages, not in time. The standby takes over in the middle.
        acts = ["kill"] * kills + ["stop"] * stops
        chance.shuffle(acts)
        acts.insert(len(acts) // 2, "fail over")
        did = collections.Counter()
        for part, act in enumerate(acts, 1):
            until("messages", lambda part=part: drill.read() or len(drill.shown) >= count * part // (len(acts) + 2) or len(drill.shown))
            did[act] += 1
            if act == "kill":
                number = chance.randrange(COURIERS)
                drill.running[f"courier-{number}"].kill()
                drill.running.pop(f"courier-{number}").wait()
                drill.start_courier(number)
                drill.cut_connections(chance.choice((0.2, 1)))
            elif act == "stop":
                drill.server.stop_at_once()
                drill.server.start()
            else:
                drill.fail_over()
            print(f"{act} at {len(drill.shown)} of {count}, {time.monotonic() - begin:.0f} s", file=sys.stderr, flush=True)
        for writer in writers:
            writer.join()
        until("the phones", lambda: drill.read() or len(drill.shown) >= count or len(drill.shown))
        until("an empty outbox", lambda: drill.server.sql("SELECT count(*) FROM sealed_push.entries") == "0" or None)
        drill.read()
        expected = {(drill.names[number % len(drill.names)], f"message {number}") for number in range(count)}
        missing = len(expected - set(drill.shown))
        twice = sum(times > 1 for times in drill.shown.values())
        stored = int(drill.server.sql("SELECT count(*) FROM message"))
        ended = [name for name, process in drill.running.items() if process.poll() is not None]
        good = missing == twice == drill.failed == 0 and stored == count and not ended
        print(json.dumps({
            "good": good, "messages": count, "phones": len(drill.names), "missing": missing, "twice": twice,
            "again": drill.again, "failed": drill.failed, "stored": stored, "ended": ended, "did": dict(did), "answers":
            dict(collections.Counter(answers)), "seconds": round(time.monotonic() - begin), "seed": int(seed)}))  # fmt: skip
    finally:
        drill.stop_all()
        if good:
            shutil.rmtree(folder)
        else:
            for log in sorted([*folder.glob("*.log"), *(folder / "database").glob("*.log")]):
                print(f"== {log}\n{log.read_text(errors='replace')[-3000:]}", file=sys.stderr)
            print(f"SEED={seed}; everything is in {folder}", file=sys.stderr)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
