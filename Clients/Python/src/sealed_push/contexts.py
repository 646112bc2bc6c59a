"""HPKE contexts, one for each recipient, by the rules of Specification 3.5."""

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
    """Gives each seal a context. Safe from many threads.

    Contexts are held only if a clock counts sleep: on Linux. Elsewhere each message has a context of its own. They are never
    pickled or copied (3.5.4).
    """

    def __init__(self, make: Callable[[bytes], Context], clock: Callable[[], float] | None = None) -> None:
        self._make = make
        self._clock = clock or _sleeping_clock()
        self._begin()

    def _begin(self) -> None:
        self._process = os.getpid()
        self._lock = threading.Lock()
        # In the order of making: a context, when it was made, and how many messages it has.
        self._held: OrderedDict[bytes, tuple[Context, float, int]] = OrderedDict()

    def get(self, recipient: bytes) -> Context:
        """A context to this recipient, for one message."""
        if self._clock is None:
            return self._make(recipient)
        if self._process != os.getpid():
            # In a child, a thread that it does not have may have held the lock.
            self._begin()
        now = self._clock()
        held = self._take(recipient, now)
        if held is not None:
            return held
        # Outside the lock: two threads that meet here each use their own.
        context = self._make(recipient)
        self._hold(recipient, context, now)
        return context

    def forget(self, recipient: bytes) -> None:
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
    """A clock that goes on while the machine sleeps (3.5.2)."""
    if sys.platform != "linux":
        return None
    return lambda: time.clock_gettime(time.CLOCK_BOOTTIME)
