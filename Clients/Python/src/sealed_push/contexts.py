"""HPKE contexts, one for each recipient, as Specification 3.5 requires."""

import os
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from .protocol.hpke import Context

MOST_MESSAGES = 1024
LIFETIME = 3600
MOST_HELD = 10_000


class ContextCache:
    """Provides a context for each message. Thread-safe.

    Contexts are reused only if a clock keeps running during sleep, as on Linux. Elsewhere, each message has its own context.
    Contexts are never pickled or copied (3.5.4).
    """

    def __init__(self, make: Callable[[bytes], Context], clock: Callable[[], float] | None = None) -> None:
        self._make = make
        self._clock = clock or _sleeping_clock()
        self._begin()

    def _begin(self) -> None:
        self._lock = threading.Lock()
        # Oldest first: a context, the time it was made, and the number of its messages.
        self._held: OrderedDict[bytes, tuple[Context, float, int]] = OrderedDict()
        # Last, so that no other thread takes the old lock.
        self._process = os.getpid()

    def _begin_in_child(self) -> None:
        """Begins again in a child process. A thread that the child doesn't have may have held the lock."""
        if self._process != os.getpid():
            self._begin()

    def get(self, recipient: bytes) -> Context:
        """Returns a context for one message to this recipient."""
        if self._clock is None:
            return self._make(recipient)
        self._begin_in_child()
        now = self._clock()
        held = self._take(recipient, now)
        if held is not None:
            return held
        # Outside the lock. If two threads get here at once, each uses a separate context.
        context = self._make(recipient)
        self._hold(recipient, context, now)
        return context

    def forget(self, recipient: bytes) -> None:
        self._begin_in_child()
        with self._lock:
            self._held.pop(recipient, None)

    def _take(self, recipient: bytes, now: float) -> Context | None:
        with self._lock:
            while self._held and next(iter(self._held.values()))[1] + LIFETIME <= now:
                self._held.popitem(last=False)
            held = self._held.get(recipient)
            if held is None:
                return None
            context, made, count = held
            if count + 1 < MOST_MESSAGES:
                self._held[recipient] = (context, made, count + 1)
            else:
                del self._held[recipient]
            return context

    def _hold(self, recipient: bytes, context: Context, made: float) -> None:
        with self._lock:
            if recipient not in self._held:
                self._held[recipient] = (context, made, 1)
                while len(self._held) > MOST_HELD:
                    self._held.popitem(last=False)


def _sleeping_clock() -> Callable[[], float] | None:
    """Returns a clock that keeps running while the machine sleeps (3.5.2), or None."""
    if sys.platform != "linux":
        return None
    return lambda: time.clock_gettime(time.CLOCK_BOOTTIME)
