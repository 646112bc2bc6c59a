"""Measures the CPU time to seal a message: `python3 benchmark.py [COUNT]`."""

import json
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent / "src"))
sys.path.insert(0, str(pathlib.Path(__file__).parent))

import sealed_push  # noqa: E402
from tests.support import NINA, TOPIC, enrolled  # noqa: E402


def measure(name, count, work):
    for _ in range(count // 10):
        work()
    start = time.process_time()
    for _ in range(count):
        work()
    each = (time.process_time() - start) / count
    print(f"Python  {name:32} {each * 1e6:6.0f} µs {1 / each:8.0f} a second")


def main(count=5_000):
    secret = sealed_push.generate_sender_secret()
    sender = sealed_push.Sender(secret, topic=TOPIC)
    fresh = sealed_push.Sender(secret, topic=TOPIC)
    _, device = enrolled(sender)
    state = json.dumps(device.to_dict())
    measure("seal", count, lambda: sender.seal(NINA, device))
    measure("seal, in a separate context", count, lambda: (fresh.forget(device.recipient()), fresh.seal(NINA, device)))
    measure(
        "load the device and seal", count, lambda: sender.seal(NINA, sealed_push.Device.from_dict(json.loads(state)))
    )


main(*map(int, sys.argv[1:]))
