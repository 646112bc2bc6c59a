// Replaces functions of the C library in the program that links this: the linker prefers a program's own functions to those
// of a shared library, also for calls from other libraries. So the code that is tested stays as it is.
#define _GNU_SOURCE
#include "interposed.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

// Calls the kernel. `syscall` is replaced below.
static long kernel(long number, long a, long b, long c, long d, long e, long f) {
    long answer;
#if defined(__x86_64__)
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    __asm__ volatile("syscall" : "=a"(answer) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
#elif defined(__aarch64__)
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
    answer = x0;
#else
#error "this machine's system calls aren't known"
#endif
    if (answer < 0 && answer > -4096) {
        errno = (int)-answer;
        return -1;
    }
    return answer;
}

#define KERNEL4(number, a, b, c, d) kernel(number, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)
#define KERNEL(number, a, b, c) KERNEL4(number, a, b, c, 0)

int world_has_clock = 0;
int64_t world_wall_time = 0, world_uptime = 0;

static int64_t simulated(clockid_t clock) {
    return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE ? world_wall_time : world_uptime;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    // The time that a thread or process has used stays real.
    if (!world_has_clock || clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID || clock < 0)
        return (int)KERNEL(SYS_clock_gettime, clock, time, 0);
    int64_t now = simulated(clock);
    time->tv_sec = now / 1000000000;
    time->tv_nsec = now % 1000000000;
    return 0;
}

int64_t world_processor_time(void) {
    struct timespec time;
    KERNEL(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, &time, 0);
    return time.tv_sec * (int64_t)1000000000 + time.tv_nsec;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    if (!world_has_clock) return (int)KERNEL(SYS_gettimeofday, time, zone, 0);
    time->tv_sec = world_wall_time / 1000000000;
    time->tv_usec = world_wall_time % 1000000000 / 1000;
    return 0;
}

time_t time(time_t *answer) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (answer) *answer = now.tv_sec;
    return now.tv_sec;
}

// SplitMix64. It must be repeatable, not secure.
static uint64_t state;
static int is_seeded = 0;

void world_seed(uint64_t seed) {
    state = seed;
    is_seeded = 1;
}

void world_fill(void *bytes, size_t count) {
    unsigned char *next = bytes;
    while (count > 0) {
        uint64_t word = state += 0x9e3779b97f4a7c15;
        word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9;
        word = (word ^ word >> 27) * 0x94d049bb133111eb;
        word ^= word >> 31;
        size_t part = count < 8 ? count : 8;
        memcpy(next, &word, part);
        next += part;
        count -= part;
    }
}

static uint32_t word(void) {
    uint32_t word;
    world_fill(&word, sizeof word);
    return word;
}

static const char *name(void) { return "world"; }

static void fill(void *bytes, const size_t count) { world_fill(bytes, count); }

// As in libsodium's randombytes.h.
struct randombytes_implementation {
    const char *(*implementation_name)(void);
    uint32_t (*random)(void);
    void (*stir)(void);
    uint32_t (*uniform)(const uint32_t upper_bound);
    void (*buf)(void *const bytes, const size_t count);
    int (*close)(void);
};
int randombytes_set_implementation(struct randombytes_implementation *implementation);

void world_seed_libsodium(void) {
    static struct randombytes_implementation implementation = {.implementation_name = name, .random = word, .buf = fill};
    randombytes_set_implementation(&implementation);
}

// Swift's SystemRandomNumberGenerator and BoringSSL ask the kernel this way.
long syscall(long number, ...) {
    va_list arguments;
    va_start(arguments, number);
    long a = va_arg(arguments, long), b = va_arg(arguments, long), c = va_arg(arguments, long);
    long d = va_arg(arguments, long), e = va_arg(arguments, long), f = va_arg(arguments, long);
    va_end(arguments);
    if (number != SYS_getrandom || !is_seeded) return kernel(number, a, b, c, d, e, f);
    world_fill((void *)a, (size_t)b);
    return b;
}

ssize_t getrandom(void *bytes, size_t count, unsigned int flags) {
    if (!is_seeded) return KERNEL(SYS_getrandom, bytes, count, flags);
    world_fill(bytes, count);
    return (ssize_t)count;
}

int getentropy(void *bytes, size_t count) {
    if (!is_seeded) return KERNEL(SYS_getrandom, bytes, count, 0) == (long)count ? 0 : -1;
    world_fill(bytes, count);
    return 0;
}

enum world_disk world_disk = world_disk_works;
int64_t world_calls_left = 0, world_call_count = 0;
int world_disk_failed = 0;

// Returns 0, or the error with which a call fails.
static int fault(int needs_room) {
    world_call_count++;
    int code = 0;
    if (world_disk == world_disk_full && needs_room) code = ENOSPC;
    if (world_disk == world_disk_kills && world_calls_left-- <= 0) code = EIO;
    if (code) world_disk_failed = 1;
    return code;
}

int world_may_change(void) { return fault(0) == 0; }

#define REFUSE_IF_FAULTY(needs_room)       \
    do {                                   \
        if (world_disk) {                  \
            int code = fault(needs_room);  \
            if (code) {                    \
                errno = code;              \
                return -1;                 \
            }                              \
        }                                  \
    } while (0)

// What a disk would lose: the changes below the world's folder that no fsync has covered, the newest first. A file's fsync
// covers its bytes, and a folder's fsync covers its entries, as POSIX promises. The system writes back what is older than
// half a minute.
struct change {
    struct change *previous;
    int64_t time;
    enum { made, moved, removed, wrote } kind;
    // What was made or removed, or the new name of what was moved.
    char path[1024];
    // The name before a move.
    char before[1024];
    // What a file contained before: for `wrote`, which `file` is open for; for others, if `path` had a file before.
    int file, had_file;
    ino_t inode;
    char *bytes;
    size_t count;
};
static struct change *newest = NULL;
static char disk[PATH_MAX] = "";

static void drop(struct change **place) {
    struct change *change = *place;
    *place = change->previous;
    if (change->kind == wrote) close(change->file);
    free(change->bytes);
    free(change);
}

void world_use_disk(const char *folder) {
    while (newest) drop(&newest);
    snprintf(disk, sizeof disk, "%s", folder);
}

static int is_on_disk(const char *path) { return *disk && strncmp(path, disk, strlen(disk)) == 0; }

static void path_of(int file, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t count = readlink(link, path, PATH_MAX - 1);
    path[count < 0 ? 0 : count] = 0;
}

// Keeps what a file contains.
static void keep(struct change *change, int file) {
    struct stat status;
    if (file < 0 || fstat(file, &status) != 0) return;
    change->bytes = malloc((size_t)status.st_size + 1);
    ssize_t count = pread(file, change->bytes, (size_t)status.st_size, 0);
    change->count = count < 0 ? 0 : (size_t)count;
}

static void drop_old(void) {
    for (struct change **place = &newest; *place;) {
        if (world_uptime - (*place)->time > 30000000000) drop(place);
        else place = &(*place)->previous;
    }
}

// Notes a change before it is made. `path` is absolute.
static struct change *note(int kind, const char *path, const char *before) {
    drop_old();
    struct change *change = calloc(1, sizeof *change);
    change->previous = newest;
    change->time = world_uptime;
    change->kind = kind;
    snprintf(change->path, sizeof change->path, "%s", path);
    snprintf(change->before, sizeof change->before, "%s", before);
    if (kind == moved || kind == removed) {
        int file = (int)KERNEL4(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
        struct stat status;
        change->had_file = file >= 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode);
        if (change->had_file) keep(change, file);
        if (file >= 0) close(file);
    }
    return newest = change;
}

static void note_writing(int file) {
    struct stat status;
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) return;
    drop_old();
    for (struct change *change = newest; change; change = change->previous) {
        if (change->kind == wrote && change->inode == status.st_ino) return;
    }
    char path[PATH_MAX];
    path_of(file, path);
    if (!is_on_disk(path)) return;
    // A descriptor of its own, which stays when the file is closed, moved, or removed, and can be read and written.
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    int own = (int)KERNEL4(SYS_openat, AT_FDCWD, link, O_RDWR | O_CLOEXEC, 0);
    if (own < 0) return;
    struct change *change = note(wrote, path, "");
    change->file = own;
    change->inode = status.st_ino;
    keep(change, own);
}

static void synced(int file) {
    char path[PATH_MAX];
    path_of(file, path);
    struct stat status;
    if (!is_on_disk(path) || fstat(file, &status) != 0) return;
    size_t length = strlen(path);
    for (struct change **place = &newest; *place;) {
        struct change *change = *place;
        int is_covered;
        if (change->kind == wrote)
            is_covered = change->inode == status.st_ino;
        else
            is_covered = S_ISDIR(status.st_mode) && strncmp(change->path, path, length) == 0 &&
                         change->path[length] == '/' && !strchr(change->path + length + 1, '/');
        if (is_covered) drop(place);
        else place = &change->previous;
    }
}

static void put_back(const char *path, const struct change *change) {
    int file = (int)KERNEL4(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0) return;
    KERNEL(SYS_write, file, change->bytes, change->count);
    close(file);
}

static void undo(const struct change *change) {
    static unsigned lost_count = 0;
    char lost[PATH_MAX];
    switch (change->kind) {
    case made:
        // Out of sight. A folder is lost with what it contains.
        snprintf(lost, sizeof lost, "%s/lost-%u", disk, lost_count++);
        KERNEL4(SYS_renameat2, AT_FDCWD, change->path, AT_FDCWD, lost);
        break;
    case moved:
        KERNEL4(SYS_renameat2, AT_FDCWD, change->path, AT_FDCWD, change->before);
        if (change->had_file) put_back(change->path, change);
        break;
    case removed:
        if (change->had_file) put_back(change->path, change);
        else KERNEL(SYS_mkdirat, AT_FDCWD, change->path, 0700);
        break;
    case wrote:
        KERNEL(SYS_ftruncate, change->file, 0, 0);
        pwrite(change->file, change->bytes, change->count, 0);
        break;
    }
}

int world_lose_power(const char *folder, uint64_t chance) {
    drop_old();
    int count = 0;
    size_t length = strlen(folder);
    for (struct change **place = &newest; *place;) {
        struct change *change = *place;
        if (strncmp(change->path, folder, length) != 0) {
            place = &change->previous;
            continue;
        }
        if (word() < chance) {
            undo(change);
            count++;
        }
        drop(place);
    }
    return count;
}

static int opened(int folder, const char *path, int flags, mode_t mode) {
    if (flags & (O_CREAT | O_WRONLY | O_RDWR | O_TRUNC)) REFUSE_IF_FAULTY(flags & O_CREAT);
    int is_new = flags & O_CREAT && is_on_disk(path) && KERNEL(SYS_faccessat, AT_FDCWD, path, F_OK) != 0;
    int file = (int)KERNEL4(SYS_openat, folder, path, flags, mode);
    if (file >= 0 && is_new) note(made, path, "");
    return file;
}

static mode_t given_mode(int flags, va_list arguments) {
    return flags & (O_CREAT | __O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
}

int open(const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = given_mode(flags, arguments);
    va_end(arguments);
    return opened(AT_FDCWD, path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = given_mode(flags, arguments);
    va_end(arguments);
    return opened(folder, path, flags, mode);
}

ssize_t write(int file, const void *bytes, size_t count) {
    if (file > 2) REFUSE_IF_FAULTY(1);
    if (file > 2) note_writing(file);
    return KERNEL(SYS_write, file, bytes, count);
}

int fsync(int file) {
    // A world's files are in memory.
    REFUSE_IF_FAULTY(0);
    synced(file);
    return 0;
}

int ftruncate(int file, off_t length) {
    REFUSE_IF_FAULTY(0);
    note_writing(file);
    return (int)KERNEL(SYS_ftruncate, file, length, 0);
}

int link(const char *from, const char *to) {
    REFUSE_IF_FAULTY(1);
    int answer = (int)KERNEL4(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to);
    if (answer == 0 && is_on_disk(to)) note(made, to, "");
    return answer;
}

int rename(const char *from, const char *to) {
    REFUSE_IF_FAULTY(0);
    if (is_on_disk(to)) note(moved, to, from);
    int answer = (int)KERNEL4(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to);
    if (answer != 0 && is_on_disk(to)) drop(&newest);
    return answer;
}

int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned int flags) {
    REFUSE_IF_FAULTY(0);
    return (int)kernel(SYS_renameat2, from_folder, (long)from, to_folder, (long)to, flags, 0);
}

static int removing(const char *path, int flags) {
    if (is_on_disk(path)) note(removed, path, "");
    int answer = (int)KERNEL(SYS_unlinkat, AT_FDCWD, path, flags);
    if (answer != 0 && is_on_disk(path)) drop(&newest);
    return answer;
}

int unlink(const char *path) {
    REFUSE_IF_FAULTY(0);
    return removing(path, 0);
}

int rmdir(const char *path) {
    REFUSE_IF_FAULTY(0);
    return removing(path, AT_REMOVEDIR);
}

int mkdir(const char *path, mode_t mode) {
    REFUSE_IF_FAULTY(1);
    int answer = (int)KERNEL(SYS_mkdirat, AT_FDCWD, path, mode);
    if (answer == 0 && is_on_disk(path)) note(made, path, "");
    return answer;
}
