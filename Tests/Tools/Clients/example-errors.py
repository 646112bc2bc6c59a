"""Runs Examples/FastAPI and Examples/Transaction with malformed addresses, without a database, and with one that is silent. No
output may contain a secret. Prints what went wrong as one line of JSON.

Usage: example-errors.py    Exit status: 0 if all is well, 1 otherwise.
"""

import http.client
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
CHECKOUT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(CHECKOUT / "Clients/Python/src"))
import sealed_push  # noqa: E402

# Seconds after which a program that hangs fails.
PATIENCE = 300
HIDDEN = "s3cr3t"
SECRET = sealed_push.generate_sender_secret()
MALFORMED = (
    f"postgres://chat:{HIDDEN}%zz@127.0.0.1/db", f"postgres://chat:{HIDDEN} x@127.0.0.1/db", f"postgres://chat:{HIDDEN}@[::1/db",
    f"postgres://chat:x@{HIDDEN}@127.0.0.1:1/db", f"postgres://chat:{HIDDEN}/x@127.0.0.1/db", HIDDEN, f"host=127.0.0.1 password='{HIDDEN}",
    f"host=127.0.0.1 {HIDDEN}", f"postgres://chat:x@127.0.0.1/db?{HIDDEN}=1", f"host=127.0.0.1 port={HIDDEN}",
)  # fmt: skip


def environment(address, **more):
    return os.environ | {
        "DATABASE_URL": address, "SENDER_SECRET": SECRET, "PYTHONPATH": str(CHECKOUT / "Clients/Python/src"),
        "PYTHONDONTWRITEBYTECODE": "1", "LOCAL_APNS": "/nowhere/address.json"} | more


def transaction(address, *words, **more):
    words = [sys.executable, CHECKOUT / "Examples/Transaction/chat.py", *(words or ("alice", "1", "Lunch at one?"))]
    done = subprocess.run(words, env=environment(address, **more), capture_output=True, timeout=PATIENCE)
    return done.returncode, (done.stdout + done.stderr).decode(errors="replace")


def service(address):
    """Returns the example's response to one request and its output, or its exit status and its output."""
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder, "log")
        with log.open("wb") as output:
            words = [sys.executable, "-m", "uvicorn", "chat:app", "--port", "0"]
            running = subprocess.Popen(words, cwd=CHECKOUT / "Examples/FastAPI", env=environment(address), stdout=output, stderr=output)
        try:
            end = time.monotonic() + PATIENCE
            while running.poll() is None and "http://127.0.0.1:" not in log.read_text():
                if time.monotonic() > end:
                    raise TimeoutError
                time.sleep(0.05)
            if running.poll() is not None:
                return running.returncode, log.read_text()
            port = int(log.read_text().split("http://127.0.0.1:")[1].split()[0])
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
            connection.request("GET", "/v1/sender-set", headers={"authorization": "Bearer alice"})
            answer = connection.getresponse()
            return answer.status, answer.read().decode() + log.read_text()
        finally:
            running.kill()
            running.wait()


def main():
    wrong = []

    def expect(what, found, status, words=""):
        code, output = found
        if code != status or words not in output:
            wrong.append(f"{what}: {code} {output[-200:]}")
        if HIDDEN in output or SECRET[30:-2] in output:
            wrong.append(f"{what}: a secret in the output")

    for address in MALFORMED:
        expect(f"Transaction, {address}", transaction(address), 1, "DATABASE_URL")
    for address in MALFORMED[::4]:
        expect(f"FastAPI, {address}", service(address), 1, "DATABASE_URL")
    nobody = f"postgres://chat:{HIDDEN}@127.0.0.1:1/db"
    expect("Transaction, no database", transaction(nobody), 1, "onnection refused")
    expect("FastAPI, no database", service(nobody), 503, "unavailable")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"postgres://chat:{HIDDEN}@127.0.0.1:{silent.getsockname()[1]}/db"
        expect("Transaction, silence", transaction(address), 1, "timeout")
        expect("FastAPI, silence", service(address), 503, "unavailable")
    expect("arguments in Latin-1", transaction(nobody, b"Zo\xe9", "1", "x"), 1, "UTF-8")
    expect("a text in Latin-1", transaction(nobody, "alice", "1", b"caf\xe9"), 1, "UTF-8")
    with tempfile.NamedTemporaryFile() as file:
        for text in (f"sealed-push-outbox-key {HIDDEN}".encode(), b"\xff" + HIDDEN.encode()):
            pathlib.Path(file.name).write_bytes(text)
            expect("an outbox key", transaction(nobody, OUTBOX_KEY_FILE=file.name), 1, "not an outbox key")
    altered = SECRET[:-1] + ("Q" if SECRET[-1] != "Q" else "P")
    expect("a sender's secret", transaction(nobody, SENDER_SECRET=altered), 1, "the key's checksum is wrong")
    print(json.dumps({"wrong": wrong}))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
