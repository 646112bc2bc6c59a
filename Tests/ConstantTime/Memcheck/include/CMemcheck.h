// What a program asks of valgrind's memcheck; without valgrind each call does nothing.
#pragma once
#include <malloc.h>
#include <stddef.h>
#include <valgrind/memcheck.h>

// From here on memcheck takes these bytes for bytes that nobody has written.
static inline void memcheck_hide(const void *bytes, size_t count) { (void)VALGRIND_MAKE_MEM_UNDEFINED(bytes, count); }
static inline void memcheck_publish(const void *bytes, size_t count) { (void)VALGRIND_MAKE_MEM_DEFINED(bytes, count); }
static inline unsigned memcheck_is_running(void) { return RUNNING_ON_VALGRIND; }
// How many places were reported so far, without those that the list allows.
static inline unsigned long memcheck_error_count(void) { return VALGRIND_COUNT_ERRORS; }
// How many bytes an object on the heap has.
static inline size_t memcheck_size(void *object) { return malloc_usable_size(object); }
