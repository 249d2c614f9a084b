/* Texts in, the number of distinct (term, class) pairs out: what counting costs without Python, on one thread.

A term is a run of at least two ASCII letters, digits or underscores, in lower case; it counts once per document.
*/

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    uint64_t hash;
    uint32_t id;        /* plus 1; 0 marks a free slot */
    uint32_t document;  /* the last one that had the term, plus 1 */
    int64_t start;      /* in the text */
    int64_t length;
} Slot;

static Slot *slots;
static uint64_t mask;

static int same(const char *text, const Slot *slot, int64_t start, int64_t length) {
    if (slot->length != length) return 0;
    for (int64_t i = 0; i < length; i++)
        if ((text[slot->start + i] | 32) != (text[start + i] | 32)) return 0;
    return 1;
}

static void enlarge(void) {
    uint64_t wider = 2 * mask + 1;
    Slot *fresh = calloc(wider + 1, sizeof(Slot));
    for (uint64_t i = 0; i <= mask; i++) {
        if (!slots[i].id) continue;
        uint64_t at = slots[i].hash & wider;
        while (fresh[at].id) at = (at + 1) & wider;
        fresh[at] = slots[i];
    }
    free(slots);
    slots = fresh;
    mask = wider;
}

int64_t plain_count(const char *text, const int64_t *ends, const int32_t *classes, int64_t n_docs, int32_t n_classes) {
    static const char word[256] = {
        ['0' ... '9'] = 1, ['a' ... 'z'] = 1, ['A' ... 'Z'] = 1, ['_'] = 1};
    int64_t n_terms = 0, room = 1024, pairs = 0, i = 0;
    uint32_t *counts = calloc(room * n_classes, sizeof(uint32_t));
    mask = 1023;
    slots = calloc(mask + 1, sizeof(Slot));
    for (int64_t d = 0; d < n_docs; d++) {
        while (i < ends[d]) {
            while (i < ends[d] && !word[(unsigned char)text[i]]) i++;
            int64_t start = i;
            uint64_t hash = 14695981039346656037u;
            for (; i < ends[d] && word[(unsigned char)text[i]]; i++) hash = (hash ^ (text[i] | 32)) * 1099511628211u;
            if (i - start < 2) continue;
            hash ^= hash >> 29;
            uint64_t at = hash & mask;
            while (slots[at].id && !(slots[at].hash == hash && same(text, &slots[at], start, i - start)))
                at = (at + 1) & mask;
            if (!slots[at].id) {
                slots[at] = (Slot){hash, (uint32_t)++n_terms, 0, start, i - start};
                if (n_terms > room) {
                    counts = realloc(counts, 2 * room * n_classes * sizeof(uint32_t));
                    memset(counts + room * n_classes, 0, room * n_classes * sizeof(uint32_t));
                    room *= 2;
                }
            }
            if (slots[at].document != (uint32_t)d + 1) {
                slots[at].document = (uint32_t)d + 1;
                pairs += counts[(int64_t)(slots[at].id - 1) * n_classes + classes[d]]++ == 0;
            }
            if (2 * (uint64_t)n_terms > mask) enlarge();
        }
    }
    free(counts);
    free(slots);
    return pairs;
}
