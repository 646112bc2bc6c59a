// A limit on each account's requests.

const MOST_NAMES = 100_000

/** A token bucket for each name: a burst of requests, and one more for each interval. For one process. */
export class RateLimiter {
  #burst
  #interval
  #clock
  // For each name, the time at which its bucket will be full again.
  #full = new Map()

  /** `interval` is in seconds, like the clock's time. */
  constructor(burst, interval, clock) {
    this.#burst = burst
    this.#interval = interval
    this.#clock = clock
  }

  /** Returns false if this name must wait. */
  take(name) {
    const now = this.#clock()
    if (this.#full.size >= MOST_NAMES) for (const [each, full] of this.#full) if (full <= now) this.#full.delete(each)
    // Names for which there is no room share a bucket, so that arriving in a crowd gives no advantage.
    const key = this.#full.has(name) || this.#full.size < MOST_NAMES ? name : ''
    const full = Math.max(now, this.#full.get(key) ?? now) + this.#interval
    if (full - now > this.#burst * this.#interval) return false
    this.#full.set(key, full)
    return true
  }
}
