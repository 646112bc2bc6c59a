"""Simulates many hosts at one outbox in PostgreSQL: where does the database become the limit? A simulation and no
measurement: it takes what one push costs from Scripts/special/bench-outbox and Scripts/bench, and reckons what waits for what.

Usage: simulate-hosts.py [--db-cores N] [--db-enqueue MICROSECONDS] [--db-deliver MICROSECONDS] [--host-cores N]
    [--host MICROSECONDS] [--exchange MICROSECONDS] [--round-trip MILLISECONDS] [--seconds N]

Each host keeps up to 4,000 pushes on their way (4 connections of 1,000 streams). It hands in what was answered and
leases as many new ones, at most 500 in one exchange, one exchange at a time. An exchange waits for a core of the
database, and takes a fixed time and some for each push; as many pushes are enqueued meanwhile, which takes time of the
same cores. Each push then takes its time of the host's cores, and a round trip to Apple. Not in it: the database's disk and
its WAL, locks that wait for each other, vacuum, and hosts that are not alike.
"""

import argparse
import heapq

STREAMS = 4_000
BATCH = 500


class Cores:
    """Work in the order in which it comes, on so many cores."""

    def __init__(self, count):
        self.free = [0.0] * count
        self.busy = 0.0

    def run(self, now, seconds):
        """When it is done."""
        begin = max(now, heapq.heappop(self.free))
        heapq.heappush(self.free, begin + seconds)
        self.busy += seconds
        return begin + seconds


def simulate(hosts, options):
    database = Cores(options.db_cores)
    machines = [Cores(options.host_cores) for _ in range(hosts)]
    room, answered = [STREAMS] * hosts, [0] * hosts
    # Hosts do not begin in step.
    events = [(host * options.exchange / 1e6 / hosts, host, "exchange", 0) for host in range(hosts)]
    resting = [False] * hosts
    heapq.heapify(events)
    done, waits = 0, []
    warm = options.seconds / 4
    while events:
        now, host, kind, count = heapq.heappop(events)
        if now > options.seconds:
            break
        if kind == "answer":
            answered[host] += count
            room[host] += count
            if now > warm:
                done += count
            if resting[host]:
                resting[host] = False
                heapq.heappush(events, (now, host, "exchange", 0))
        elif room[host] == 0:
            resting[host] = True
        else:
            taken = min(BATCH, room[host])
            # Somebody enqueues as many meanwhile.
            database.run(now, taken * options.db_enqueue / 1e6)
            end = database.run(now, (options.exchange + taken * options.db_deliver) / 1e6)
            waits.append(end - now)
            room[host] -= taken
            answered[host] = 0
            # In tens, as the cores send them one after the other.
            for _ in range(0, taken, 10):
                sent = machines[host].run(end, 10 * options.host / 1e6)
                heapq.heappush(events, (sent + options.round_trip / 1e3, host, "answer", 10))
            heapq.heappush(events, (end, host, "exchange", 0))
    waits.sort()
    span = options.seconds - warm
    return (
        done / span,
        min(1.0, database.busy / options.seconds / options.db_cores),
        min(1.0, sum(machine.busy for machine in machines) / options.seconds / hosts / options.host_cores),
        waits[len(waits) // 2] * 1e3,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--db-cores", type=int, default=8)
    parser.add_argument("--db-enqueue", type=float, default=14.3)
    parser.add_argument("--db-deliver", type=float, default=31.1)
    parser.add_argument("--host-cores", type=int, default=2)
    parser.add_argument("--host", type=float, default=20)
    parser.add_argument("--exchange", type=float, default=1_000)
    parser.add_argument("--round-trip", type=float, default=50)
    parser.add_argument("--seconds", type=float, default=8)
    options = parser.parse_args()
    print("a simulation: hosts, pushes a second, the database's cores in use, a host's, an exchange (median)")
    for hosts in (1, 2, 4, 8, 16, 32, 64):
        rate, database, host, wait = simulate(hosts, options)
        print(f"{hosts:3} {rate:11,.0f}/s {database:5.0%} {host:5.0%} {wait:8.1f} ms")


if __name__ == "__main__":
    main()
