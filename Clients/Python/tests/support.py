"""What several tests share: the vectors' form, and a phone."""

import functools
import os
import pathlib
import random
import time

import sealed_push
from sealed_push.protocol import hpke, key_text, opening, records

HERE = pathlib.Path(__file__).resolve()
# In a source distribution the vectors lie beside the tests.
VECTORS = next(path for path in (HERE.with_name("vectors"), HERE.parents[3] / "Tests" / "Vectors") if path.is_dir())
SPECIFICATION = HERE.parents[3] / "Docs" / "Specification.md"
TOPIC = "com.example.app"
NINA = {"alert": {"title": "Nina", "body": "Lunch at one?"}}


def read_vectors(folder):
    """The values of each vector by its name (Specification, Appendix B)."""
    found = {}
    for path in sorted((VECTORS / folder).glob("*.txt")):
        lines = path.read_text(encoding="utf-8").split("\n")
        found[path.stem] = dict(line.split(": ", 1) for line in lines if line and not line.startswith("#"))
    return found


def keys_of(values, name, kind):
    """Identities and recipients may be hybrid."""
    either = {key_text.IDENTITY: hpke.read_identity, key_text.RECIPIENT: key_text.recipient}
    read = either.get(kind, functools.partial(key_text.decode, kind))
    return [read(values[each]) for each in values if each.rstrip("0123456789") == name]


def seeded(test):
    """A generator whose seed a failure names; SEED=... in the environment takes it back."""
    seed = int(os.environ.get("SEED", random.SystemRandom().randrange(2**32)))
    test.addCleanup(lambda: _failed(test) and print(f"SEED={seed}"))
    return random.Random(seed)


def _failed(test):
    result = getattr(getattr(test, "_outcome", None), "result", None)
    wrong = [*getattr(result, "failures", []), *getattr(result, "errors", [])]
    return any(each is test for each, _ in wrong)


class Phone:
    """A device that has made its own keys, as the app's half does."""

    def __init__(self, topic=TOPIC):
        self.topic, self.secret, self.counter = topic, os.urandom(32), 0
        self.identities = []
        self.rotate()

    @property
    def enrollment(self):
        return records.signing_public_key(self.secret)

    @property
    def recipients(self):
        return [key_text.recipient_text(hpke.recipient_of(each)) for each in self.identities]

    def rotate(self, kind=bytes):
        """A new key, beside those that there are: the newest first."""
        self.identities.insert(0, kind(os.urandom(32)))

    def record(self, counter=None, created=None, lifetime=34560000, recipients=None, keeps=30):
        self.counter = self.counter + 1 if counter is None else counter
        made = int(time.time()) if created is None else created
        keys = recipients or [hpke.recipient_of(each) for each in self.identities]
        times = (made, made + lifetime)
        return records.sign_record(records.DEVICE, self.secret, self.counter, *times, self.topic, keys, keeps)

    def answer(self, challenge, sender):
        trusted = [key_text.decode(key_text.SENDER, sender.public_key)]
        return records.answer_challenge(challenge, self.identities, trusted, self.topic, self.enrollment)

    def open(self, push, sender, now=None):
        """The content, opened by the steps of a device."""
        trusted = [key_text.decode(key_text.SENDER, sender.public_key)]
        at = int(time.time()) if now is None else now
        return opening.open_payload(push.payload, self.identities, trusted, self.topic, at)[0]


def enrolled(sender, phone=None):
    """A phone, and what the server has of it once it is proven."""
    phone = phone or Phone()
    device = sealed_push.Device.enroll(phone.record(), topic=phone.topic)
    device.answer(phone.answer(device.challenge(sender), sender))
    return phone, device
