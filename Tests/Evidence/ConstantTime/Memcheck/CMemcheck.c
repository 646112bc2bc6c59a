#include "CMemcheck.h"

// Replaces libsodium's. Memcheck marks memory as initialized once its protection changes, and would forget each secret.
int sodium_mprotect_readonly(void *memory) {
    (void)memory;
    return 0;
}
