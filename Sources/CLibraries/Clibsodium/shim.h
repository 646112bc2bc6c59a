#include <sodium.h>

/* Checked again at launch, when another version of the library may be present: PushCore's Sodium.swift. */
#if SODIUM_LIBRARY_VERSION_MAJOR < 10 || (SODIUM_LIBRARY_VERSION_MAJOR == 10 && SODIUM_LIBRARY_VERSION_MINOR < 3)
#error "libsodium is too old; version 1.0.18 or later is required"
#endif

/* libsodium has ML-KEM since 1.0.22. Before, these always fail, and PushCore's MLKEM768.swift uses another library. */
#ifndef crypto_kem_mlkem768_SEEDBYTES
static inline int crypto_kem_mlkem768_seed_keypair(unsigned char *pk, unsigned char *sk, const unsigned char *seed) {
    (void) pk, (void) sk, (void) seed;
    return -1;
}
static inline int crypto_kem_mlkem768_enc(unsigned char *ct, unsigned char *ss, const unsigned char *pk) {
    (void) ct, (void) ss, (void) pk;
    return -1;
}
static inline int crypto_kem_mlkem768_dec(unsigned char *ss, const unsigned char *ct, const unsigned char *sk) {
    (void) ss, (void) ct, (void) sk;
    return -1;
}
#endif
