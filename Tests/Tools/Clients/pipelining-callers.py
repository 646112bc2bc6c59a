"""Sends bursts of pipelined requests, and bodies in one-byte chunks, to each listener of a real `sealedpush serve`, plain and
with TLS, and lets a back end ask in the meantime. Prints a table of the slowest answer and the peak memory.

Usage: pipelining-callers.py PROGRAMS CONNECTIONS KILOBYTES
PROGRAMS is the folder of sealedpush. Each connection sends that many kilobytes. Exit status: 0 if every figure meets its
floor; 2 otherwise.
"""

import http.client
import json
import multiprocessing
import os
import pathlib
import ssl
import subprocess
import sys
import tempfile
import time

TOPIC = "com.example.app"
TOKEN = "the-callers-with-bursts-do-not-know-this"
SLOWEST, MOST = 0.5, 200
# Longer than a burst takes; then the service must answer as fast as before.
SECONDS = 6
CERTIFICATE = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
               "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "key.pem", "-out", "cert.pem"]  # fmt: skip


def burst(kind, byte_count):
    if kind == "requests":
        one = b"GET / HTTP/1.1\r\n\r\n"
        return one * (byte_count // len(one))
    head = b"POST /v1/leavings HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    return head + b"1\r\n \r\n" * (byte_count // 6)


def connect(port, is_secure, timeout=30):
    if not is_secure:
        return http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    return http.client.HTTPSConnection("127.0.0.1", port, timeout=timeout, context=ssl.create_default_context(cafile="cert.pem"))


def attack(port, is_secure, kind, count, byte_count, sent, is_over):
    """Opens all connections, then sends to all at once until each has sent everything or was closed; keeps them open."""
    waiting = {}
    for _ in range(count):
        connection = connect(port, is_secure)
        connection.request("GET", "/healthz")
        connection.getresponse().read()
        connection.sock.setblocking(False)
        waiting[connection.sock] = memoryview(burst(kind, byte_count))
    kept, end = list(waiting), time.monotonic() + SECONDS
    while waiting and time.monotonic() < end:
        for connection, rest in list(waiting.items()):
            try:
                number = connection.send(rest[:16_384])
                sent.value += number
                waiting[connection] = rest[number:]
                if not waiting[connection]:
                    del waiting[connection]
            except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
                pass
            except OSError:
                del waiting[connection]
    is_over.wait()
    del kept


class Service:
    def __init__(self, program, is_secure):
        self.is_secure, places = is_secure, ["127.0.0.1:0"] * 3
        words = [program, "serve", "--from", "newsroom", "--topic", TOPIC, "--keyring", "Keys", "--outbox", "outbox.sqlite", "--token-file", "token", "--json"]
        for option, place in zip(["--listen", "--phones", "--metrics"], places):
            words += [option, place]
        log = open("log", "wb")
        self.process = subprocess.Popen(words + (["--tls", "cert.pem,key.pem"] if is_secure else []), stdout=subprocess.PIPE, stderr=log, text=True)
        announced = json.loads(self.process.stdout.readline())
        metrics = pathlib.Path("log").read_text().split("metrics are at http://127.0.0.1:")[1].split("/")[0]
        self.ports = {"back end": announced["port"], "phones": announced["phones"]["port"], "metrics": int(metrics)}

    def ask(self):
        """Asks over a new connection, as the back end. Returns the seconds that it took."""
        start = time.monotonic()
        try:
            connection = connect(self.ports["back end"], self.is_secure)
            connection.request("GET", "/v1/devices", headers={"Authorization": f"Bearer {TOKEN}"})
            status = connection.getresponse().status
            connection.close()
        except OSError:
            status = 0
        return time.monotonic() - start if status == 200 else float("inf")

    def peak(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0]) // 1_000

    def stop(self):
        self.process.terminate()
        self.process.wait(120)


def measure(program, listener, is_secure, kind, count, byte_count):
    service, sent, is_over = Service(program, is_secure), multiprocessing.Value("Q", 0), multiprocessing.Event()
    words = (service.ports[listener], is_secure and listener != "metrics", kind, count, byte_count, sent, is_over)
    attacker = multiprocessing.Process(target=attack, args=words)
    try:
        attacker.start()
        times, end = [], time.monotonic() + SECONDS
        while time.monotonic() < end or sent.value == 0 and attacker.is_alive():
            times.append(service.ask())
            time.sleep(0.02)
        return sent.value / 1e6, len(times), max(times), service.peak()
    finally:
        is_over.set()
        attacker.join()
        service.stop()


def main():
    program, count, byte_count = str(pathlib.Path(sys.argv[1]).resolve() / "sealedpush"), int(sys.argv[2]), int(sys.argv[3]) * 1_000
    is_met = True
    print(f"{'listener':9} {'':5} {'burst':9} {'sent':>8} {'answers':>8} {'slowest':>9} {'peak':>7}")
    for is_secure in (False, True):
        for listener in ("back end", "phones", "metrics"):
            for kind in ("requests", "chunks"):
                if is_secure and listener == "metrics":
                    continue
                sent, answers, slowest, peak = measure(program, listener, is_secure, kind, count, byte_count)
                is_met = is_met and slowest <= SLOWEST and peak < MOST
                protocol = "TLS" if is_secure else "plain"
                print(f"{listener:9} {protocol:5} {kind:9} {sent:5.1f} MB {answers:8} {slowest:7.3f} s {peak:4} MB", flush=True)
    print(f"floors: {SLOWEST} s, {MOST} MB: {'met' if is_met else 'missed'}")
    sys.exit(0 if is_met else 2)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="sealed-push-pipelining-") as folder:
        sys.argv[1] = str(pathlib.Path(sys.argv[1]).resolve())
        os.chdir(folder)
        subprocess.run([sys.argv[1] + "/sealedpush", "keys", "generate", "sender", "newsroom", "--keyring", "Keys"], check=True, capture_output=True)
        subprocess.run(CERTIFICATE, check=True, capture_output=True)
        pathlib.Path("token").write_text(TOKEN + "\n")
        for name in ("token", "key.pem"):
            pathlib.Path(name).chmod(0o600)
        main()
