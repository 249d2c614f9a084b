/* The n-th allocation of memory that chosen code asks the C library for, or of an array's data, fails.

   Compiled and preloaded by tests/allocations.py, which chooses the code and hands `faults_arrays` to numpy. */
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void free(void *block);

enum { ROOM = 256 };
static uintptr_t from[ROOM], to[ROOM];
static int n_ranges;
static atomic_int is_armed;
static atomic_long seen;
static long fails_at;
static uintptr_t failed_for;

/* Count allocations by the code between two addresses. */
void faults_add(uintptr_t start, uintptr_t stop) {
    if (n_ranges < ROOM) {
        from[n_ranges] = start;
        to[n_ranges++] = stop;
    }
}

void faults_arm(long at) {
    fails_at = at;
    failed_for = 0;
    atomic_store(&seen, 0);
    atomic_store(&is_armed, 1);
}

long faults_disarm(void) {
    atomic_store(&is_armed, 0);
    return atomic_load(&seen);
}

/* Return the address after the call that failed; 1 for an array, 0 if none failed. */
uintptr_t faults_place(void) { return failed_for; }

static int fails(uintptr_t caller) {
    if (atomic_fetch_add(&seen, 1) + 1 != fails_at) return 0;
    failed_for = caller;
    errno = ENOMEM;
    return 1;
}

static int refuses(uintptr_t caller) {
    if (atomic_load_explicit(&is_armed, memory_order_relaxed))
        for (int i = 0; i < n_ranges; i++)
            if (caller >= from[i] && caller < to[i]) return fails(caller);
    return 0;
}

#define CALLER ((uintptr_t) __builtin_return_address(0))
void *malloc(size_t size) { return refuses(CALLER) ? NULL : __libc_malloc(size); }
void *calloc(size_t n, size_t size) { return refuses(CALLER) ? NULL : __libc_calloc(n, size); }
void *realloc(void *block, size_t size) { return refuses(CALLER) ? NULL : __libc_realloc(block, size); }

static int refuses_array(void) { return atomic_load(&is_armed) && fails(1); }

static void *array_malloc(void *ctx, size_t size) { return refuses_array() ? NULL : __libc_malloc(size); }
static void *array_calloc(void *ctx, size_t n, size_t size) {
    return refuses_array() ? NULL : __libc_calloc(n, size);
}
static void *array_realloc(void *ctx, void *block, size_t size) {
    return refuses_array() ? NULL : __libc_realloc(block, size);
}
static void array_free(void *ctx, void *block, size_t size) { free(block); }

/* What numpy calls PyDataMem_Handler. */
struct {
    char name[127];
    uint8_t version;
    void *ctx;
    void *(*malloc)(void *, size_t);
    void *(*calloc)(void *, size_t, size_t);
    void *(*realloc)(void *, void *, size_t);
    void (*free)(void *, void *, size_t);
} faults_arrays = {"faults", 1, NULL, array_malloc, array_calloc, array_realloc, array_free};
