"""A limit on each account's requests."""

import threading
from collections.abc import Callable

_MOST_NAMES = 100_000


class RateLimiter:
    """A token bucket for each name: a burst of requests, and one more for each interval. Thread-safe; for one process."""

    def __init__(self, burst: int, interval: float, clock: Callable[[], float]) -> None:
        """`interval` is in seconds."""
        self._burst, self._interval, self._clock = burst, interval, clock
        # For each name, the time at which its bucket will be full again.
        self._full: dict[str, float] = {}
        self._lock = threading.Lock()

    def take(self, name: str) -> bool:
        """Returns false if this name must wait."""
        with self._lock:
            now = self._clock()
            if len(self._full) >= _MOST_NAMES:
                self._full = {each: full for each, full in self._full.items() if full > now}
            # Names for which there is no room share a bucket, so that arriving in a crowd gives no advantage.
            key = name if name in self._full or len(self._full) < _MOST_NAMES else ""
            full = max(now, self._full.get(key, now)) + self._interval
            if full - now > self._burst * self._interval:
                return False
            self._full[key] = full
            return True
