#include "CMemcheck.h"

// In place of libsodium's: memcheck takes memory for written once its protection changes, and would forget each secret.
int sodium_mprotect_readonly(void *memory) {
    (void)memory;
    return 0;
}
