// The simulated time, randomness, and disk of a world: what a program gets from the C library.
#pragma once
#include <stddef.h>
#include <stdint.h>

// One thread changes these, or waits for the one that does.
#define WORLD_STATE extern __attribute__((swift_attr("nonisolated(unsafe)")))

/// Whether the C library's clocks show the world's time. Before that, they show the machine's.
WORLD_STATE int world_has_clock;
/// Nanoseconds since 1970 and since the machine started.
WORLD_STATE int64_t world_wall_time, world_uptime;

/// The machine's time in nanoseconds that all threads of this process have used, whatever the world's clocks show.
int64_t world_processor_time(void);

/// Makes the world's random bytes begin at a seed.
void world_seed(uint64_t seed);
void world_fill(void *bytes, size_t count);
/// Makes libsodium take its random bytes from there. Must be called before libsodium is used. BoringSSL's ML-KEM keeps its own.
void world_seed_libsodium(void);

/// How the disk behaves for the process that is running at the moment.
enum world_disk {
    world_disk_works,
    /// Each call that needs room fails.
    world_disk_full,
    /// The process runs until it has made `world_calls_left` more calls that change files. From then on, it is dead: no call
    /// has an effect.
    world_disk_kills,
};
WORLD_STATE enum world_disk world_disk;
WORLD_STATE int64_t world_calls_left;
/// Whether a call failed because of `world_disk`.
WORLD_STATE int world_disk_failed;
/// The number of calls that changed files.
WORLD_STATE int64_t world_call_count;
/// Counts a change that isn't a file's, such as a keychain item's. Returns whether it may be made.
int world_may_change(void);

/// Remembers changes of files below this folder until fsync covers them. Forgets what was remembered before.
void world_use_disk(const char *folder);
/// Loses what fsync hasn't covered below a folder, in the last half minute: each change with this chance of 2^32. Returns how
/// many were lost.
int world_lose_power(const char *folder, uint64_t chance);
