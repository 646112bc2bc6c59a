// Replaces functions of the C library in the program that links this: the linker prefers a program's own functions to those of
// a shared library. So the code that is tested stays as it is.
#define _GNU_SOURCE
#include "held_calls.h"
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[4096];

void held_calls_begin(const char *path) { snprintf(folder, sizeof folder, "%s", path); }

// Prints the call with its path below the folder, and that of a second one. Ends the program if the other process has ended.
static void hold(const char *call, const char *path, const char *other) {
    size_t count = strlen(folder);
    if (count == 0 || strncmp(path, folder, count) != 0) return;
    dprintf(1, "%s %s %s\n", call, path + count, other && strncmp(other, folder, count) == 0 ? other + count : "");
    char byte;
    ssize_t taken;
    while ((taken = read(0, &byte, 1)) < 0 && errno == EINTR) {}
    if (taken != 1) _exit(1);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int open(const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    // Folders are opened to sync them, and the origin is read together with the list of names.
    const char *name = strrchr(path, '/');
    if (!(flags & O_CREAT) && name && strchr(name, '-')) hold("read", path, NULL);
    return REAL(open)(path, flags, mode);
}

DIR *opendir(const char *path) {
    hold("list", path, NULL);
    return REAL(opendir)(path);
}

int mkdir(const char *path, mode_t mode) {
    hold("mkdir", path, NULL);
    return REAL(mkdir)(path, mode);
}

int fsync(int file) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t count = readlink(link, path, sizeof path - 1);
    if (count > 0) {
        path[count] = 0;
        hold("sync", path, NULL);
    }
    return REAL(fsync)(file);
}

int link(const char *from, const char *to) {
    hold("link", to, from);
    return REAL(link)(from, to);
}

int rename(const char *from, const char *to) {
    hold("rename", to, from);
    return REAL(rename)(from, to);
}

int unlink(const char *path) {
    hold("unlink", path, NULL);
    return REAL(unlink)(path);
}

int rmdir(const char *path) {
    hold("rmdir", path, NULL);
    return REAL(rmdir)(path);
}
