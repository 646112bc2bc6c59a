// A program's requests to valgrind's memcheck. Without valgrind, each call is a no-op.
#pragma once
#include <malloc.h>
#include <stddef.h>
#include <valgrind/memcheck.h>

// Marks bytes as uninitialized for memcheck.
static inline void memcheck_hide(const void *bytes, size_t count) { (void)VALGRIND_MAKE_MEM_UNDEFINED(bytes, count); }
static inline void memcheck_publish(const void *bytes, size_t count) { (void)VALGRIND_MAKE_MEM_DEFINED(bytes, count); }
static inline unsigned memcheck_is_running(void) { return RUNNING_ON_VALGRIND; }
// Returns the number of places reported so far, without suppressed ones.
static inline unsigned long memcheck_error_count(void) { return VALGRIND_COUNT_ERRORS; }
// Returns the size of an object on the heap in bytes.
static inline size_t memcheck_size(void *object) { return malloc_usable_size(object); }
