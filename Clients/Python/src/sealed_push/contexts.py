"""HPKE contexts, one for each recipient, by the rules of Specification 3.5."""

import mmap
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from .protocol.hpke import Context

MOST_MESSAGES = 1024
LIFETIME = 3600
MOST_HELD = 10_000
_WIPE_ON_FORK = 18  # MADV_WIPEONFORK of Linux


class ContextCache:
    """Gives each seal a context and a number that was never given before. Safe from many threads.

    Contexts are held only where a clock counts sleep, and where a child of this process can be told from it: on Linux. Elsewhere
    each message has a context of its own (3.5.8). Nothing of it is pickled or copied (3.5.5).
    """

    def __init__(self, make: Callable[[bytes], Context], clock: Callable[[], float] | None = None) -> None:
        self._make = make
        self._clock = clock or _sleeping_clock()
        self._state = _State() if self._clock else None

    def reserve(self, recipient: bytes) -> tuple[Context, int]:
        """A context to this recipient, and the number to seal under."""
        state = self._current()
        if state is None or self._clock is None:
            return self._make(recipient), 0
        now = self._clock()
        held = state.take(recipient, now)
        if held is not None:
            return held
        # Outside the lock: two threads that meet here each use their own.
        context = self._make(recipient)
        state.hold(recipient, context, now)
        return context, 0

    def forget(self, recipient: bytes) -> None:
        state = self._current()
        if state is not None:
            state.forget(recipient)

    def _current(self) -> "_State | None":
        """A child begins with nothing: its parent goes on with the same numbers, and may have held the lock."""
        state = self._state
        if state is not None and state.is_of_parent:
            state = self._state = _State()
        return state if state is not None and state.can_tell else None


class _State:
    """What one process holds: its contexts, the lock around them, and the mark of the process."""

    def __init__(self) -> None:
        self._mark = _fork_mark()
        self._lock = threading.Lock()
        # In the order of making: a context, when it was made, and its next number.
        self._held: OrderedDict[bytes, tuple[Context, float, int]] = OrderedDict()

    @property
    def can_tell(self) -> bool:
        """Whether a child would be known for one."""
        return self._mark is not None

    @property
    def is_of_parent(self) -> bool:
        return self._mark is not None and self._mark[0] == 0

    def take(self, recipient: bytes, now: float) -> tuple[Context, int] | None:
        with self._lock:
            while self._held and next(iter(self._held.values()))[1] + LIFETIME <= now:
                self._held.popitem(last=False)
            held = self._held.get(recipient)
            if held is None:
                return None
            context, made, number = held
            if number + 1 < MOST_MESSAGES:
                self._held[recipient] = (context, made, number + 1)
            else:
                del self._held[recipient]
            return context, number

    def hold(self, recipient: bytes, context: Context, made: float) -> None:
        """Keeps a context whose number 0 is taken."""
        with self._lock:
            if recipient not in self._held:
                self._held[recipient] = (context, made, 1)
                while len(self._held) > MOST_HELD:
                    self._held.popitem(last=False)

    def forget(self, recipient: bytes) -> None:
        with self._lock:
            self._held.pop(recipient, None)


def _sleeping_clock() -> Callable[[], float] | None:
    """A clock that goes on while the machine sleeps (3.5.3)."""
    if sys.platform != "linux":
        return None
    return lambda: time.clock_gettime(time.CLOCK_BOOTTIME)


def _fork_mark() -> mmap.mmap | None:
    """A page that the kernel empties in a child (3.5.6)."""
    if sys.platform != "linux":
        return None
    try:
        page = mmap.mmap(-1, mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        page.madvise(_WIPE_ON_FORK)
    except OSError:
        return None
    page[0] = 1
    return page
