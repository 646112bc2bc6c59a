#include <sodium.h>

/* Looked at once more when a program starts, where the library may be another one: PushCrypto's Sodium.swift. */
#if SODIUM_LIBRARY_VERSION_MAJOR < 10 || (SODIUM_LIBRARY_VERSION_MAJOR == 10 && SODIUM_LIBRARY_VERSION_MINOR < 3)
#error "libsodium is too old: 1.0.18 or newer is needed"
#endif

/* libsodium has ML-KEM from 1.0.22 on. Before, these always fail, and PushCore's MLKEM768.swift looks elsewhere. */
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
