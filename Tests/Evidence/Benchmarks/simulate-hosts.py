"""Simulates many hosts that share an outbox in PostgreSQL, to find out when the database becomes the bottleneck.

This isn't a measurement: it computes waiting times from the costs of a push in Scripts/special/bench-outbox and Scripts/bench.

Usage: simulate-hosts.py [--db-cores N] [--db-enqueue MICROSECONDS] [--db-deliver MICROSECONDS] [--host-cores N]
    [--host MICROSECONDS] [--exchange MICROSECONDS] [--round-trip MILLISECONDS] [--seconds N]

Each host keeps up to 4,000 pushes in transit (4 connections with 1,000 streams each). It completes answered pushes and
leases as many new ones, at most 500 per exchange and one exchange at a time. An exchange waits for one of the database's
cores, and takes a fixed time plus some for each push. Meanwhile, the same number of pushes is enqueued on those cores.
Each push then takes some time on the host's cores, and a round trip to Apple. The simulation excludes the database's disk
and WAL, lock contention, vacuum, and differences between hosts.
"""

import argparse
import heapq

STREAMS = 4_000
BATCH = 500


class Cores:
    """Runs work in order of arrival on a number of cores."""

    def __init__(self, count):
        self.free = [0.0] * count
        self.busy = 0.0

    def run(self, now, seconds):
        """Returns the time at which the work is done."""
        begin = max(now, heapq.heappop(self.free))
        heapq.heappush(self.free, begin + seconds)
        self.busy += seconds
        return begin + seconds


def simulate(hosts, options):
    database = Cores(options.db_cores)
    machines = [Cores(options.host_cores) for _ in range(hosts)]
    room, answered = [STREAMS] * hosts, [0] * hosts
    # Hosts start at different times.
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
            # Meanwhile, the same number is enqueued.
            database.run(now, taken * options.db_enqueue / 1e6)
            end = database.run(now, (options.exchange + taken * options.db_deliver) / 1e6)
            waits.append(end - now)
            room[host] -= taken
            answered[host] = 0
            # In groups of ten, since the cores send them one after the other.
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
    print("simulation: hosts, pushes per second, database CPU use, host CPU use, time of an exchange (median)")
    for hosts in (1, 2, 4, 8, 16, 32, 64):
        rate, database, host, wait = simulate(hosts, options)
        print(f"{hosts:3} {rate:11,.0f}/s {database:5.0%} {host:5.0%} {wait:8.1f} ms")


if __name__ == "__main__":
    main()
