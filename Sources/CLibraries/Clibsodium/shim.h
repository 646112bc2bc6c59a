#include <sodium.h>

/* Looked at once more when a program starts, where the library may be another one: PushCrypto's Sodium.swift. */
#if SODIUM_LIBRARY_VERSION_MAJOR < 10 || (SODIUM_LIBRARY_VERSION_MAJOR == 10 && SODIUM_LIBRARY_VERSION_MINOR < 3)
#error "libsodium is too old: 1.0.18 or newer is needed"
#endif
