#!/usr/bin/env python3
"""Compares HPKE libraries for Scripts/special/bench-hpke: first checks that each opens what the others seal, and then times
them in turn, round after round.
Usage: compare.py ROUNDS COUNT PEER...   each PEER is "library|version|auth or base|command"

Each peer is a process. Its first line of input has the recipient's secret and public key, the sender's, the info, and the
plaintext, all in hex; it answers `ready`. After that, it answers each line with one line:
  seal                  the encapsulated key and the ciphertext of a new context's first message
  open KEY CIPHERTEXT   the plaintext, or `refused`
  time COUNT            the average CPU times of COUNT calls of seal and of open, in microseconds
All messages have empty additional data. Exit status: 0; 1 if two peers don't agree."""

import secrets
import shlex
import statistics
import subprocess
import sys

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

PLAINTEXT = bytes(range(256))
INFO = b"hpke-benchmark/v1\0com.example.app"


class Peer:
    """A library in one mode, in a process of its own."""

    def __init__(self, description, keys):
        self.library, self.version, self.mode, command = description.split("|", 3)
        self.name = f"{self.library} ({self.mode})"
        self.process = subprocess.Popen(
            shlex.split(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        if self.ask(" ".join(keys)) != "ready":
            sys.exit(f"{self.name} can't start: {command}")
        self.times = ([], [])

    def ask(self, line):
        """Returns the answer to a line; empty if the process ended."""
        try:
            print(line, file=self.process.stdin, flush=True)
        except BrokenPipeError:
            return ""
        return self.process.stdout.readline().strip()

    def measure(self, count):
        for times, value in zip(self.times, self.ask(f"time {count}").split(), strict=True):
            times.append(float(value))

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def key_pair():
    key = X25519PrivateKey.generate()
    return key.private_bytes_raw().hex(), key.public_key().public_bytes_raw().hex()


def disagreements(peers):
    """Yields a sentence for each message that a peer should open and doesn't, or the other way around."""
    for sender in peers:
        enc, ciphertext = sender.ask("seal").split()
        if len(enc) != 64 or len(ciphertext) != 2 * (len(PLAINTEXT) + 16):
            yield f"{sender.name} sealed a message of the wrong size"
        altered = f"{int(ciphertext[0], 16) ^ 1:x}{ciphertext[1:]}"
        for recipient in peers:
            expected = PLAINTEXT.hex() if recipient.mode == sender.mode else "refused"
            if recipient.ask(f"open {enc} {ciphertext}") != expected:
                verb = "doesn't open" if recipient.mode == sender.mode else "doesn't refuse"
                yield f"{recipient.name} {verb} what {sender.name} seals"
            if recipient.ask(f"open {enc} {altered}") != "refused":
                yield f"{recipient.name} doesn't refuse an altered message of {sender.name}"


def summary(times):
    """Returns the median, and the 5th and 95th percentile."""
    times = sorted(times)
    edge = len(times) // 20
    return f"{statistics.median(times):.1f} ({times[edge]:.1f}–{times[len(times) - 1 - edge]:.1f})"


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    rounds, count = int(sys.argv[1]), int(sys.argv[2])
    keys = [*key_pair(), *key_pair(), INFO.hex(), PLAINTEXT.hex()]
    peers = [Peer(description, keys) for description in sys.argv[3:]]

    print(f"== each of {len(peers)} opens what the others in its mode seal, and nothing else", file=sys.stderr)
    found = list(disagreements(peers))
    if found:
        print(*found, sep="\n", file=sys.stderr)
        sys.exit(1)

    for peer in peers:
        peer.measure(count)
        for times in peer.times:
            times.clear()
    for number in range(rounds):
        if number % 10 == 0:
            print(f"round {number} of {rounds}", file=sys.stderr)
        # Another order each time, so that none always follows the same other.
        for peer in sorted(peers, key=lambda _: secrets.randbits(64)):
            peer.measure(count)

    print("| library | mode | seal, µs | open, µs |\n|---|---|---|---|")
    for peer in sorted(peers, key=lambda peer: (peer.mode, statistics.median(peer.times[0]))):
        print(f"| {peer.library} {peer.version} | {peer.mode} | {summary(peer.times[0])} | {summary(peer.times[1])} |")
    for peer in peers:
        peer.close()


main()
