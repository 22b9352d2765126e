/* facts.c -- a lookup of policies for the rules, that asks each policy once. */
#include "policies/policies_private.h"

enum { SEEN_FIRST = 64 };

/* What find has answered: an open hash table in the reader's arena. A policy that was not there, or could not be read, has
 * no moves and is remembered too. */
typedef struct PoliciesSeen {
    PolicyFacts *slots; /* id 0: free */
    size_t capacity;    /* a power of two */
    size_t count;
} PoliciesSeen;

static PolicyFacts *slot_of(const PoliciesSeen *seen, uint64_t id)
{
    size_t mask = seen->capacity - 1;
    size_t at = (size_t)(id * UINT64_C(0x9E3779B97F4A7C15) >> 32) & mask;
    while (seen->slots[at].id != 0 && seen->slots[at].id != id)
        at = (at + 1) & mask;
    return &seen->slots[at];
}

static PoliciesSeen *seen_new(size_t capacity, Arena *arena)
{
    PoliciesSeen *seen = ARENA_NEW(arena, PoliciesSeen);
    *seen = (PoliciesSeen){ARENA_ARRAY(arena, capacity, PolicyFacts), capacity, 0};
    return seen;
}

/* Room for one more. Answers already given stay where they are: rules hold pointers to them. */
static void make_room(PoliciesReader *reader)
{
    PoliciesSeen *old = reader->seen;
    if (old != NULL && old->count * 2 < old->capacity)
        return;
    reader->seen = seen_new(old == NULL ? SEEN_FIRST : old->capacity * 2, reader->arena);
    for (size_t i = 0; old != NULL && i < old->capacity; i++) {
        if (old->slots[i].id == 0)
            continue;
        *slot_of(reader->seen, old->slots[i].id) = old->slots[i];
        reader->seen->count++;
    }
}

static const PolicyFacts *find(void *self, uint64_t id)
{
    PoliciesReader *reader = self;
    if (id == 0)
        return NULL;
    make_room(reader);
    PolicyFacts *slot = slot_of(reader->seen, id);
    if (slot->id == 0) {
        PolicyKnown known;
        Status status = reader->fresh
                            ? policy_known_fresh(reader->policies, id, reader->arena, &known)
                            : policy_known(reader->policies, id, reader->arena, &known);
        if (status != STATUS_OK && status != STATUS_NOT_FOUND)
            reader->failed = status;
        *slot = status == STATUS_OK ? known.facts : (PolicyFacts){.id = id};
        reader->seen->count++;
    }
    return slot->move_count > 0 ? slot : NULL;
}

PolicyLookup policies_lookup(PoliciesReader *reader)
{
    return (PolicyLookup){find, reader};
}

Status policies_news(Policies *policies, uint64_t id, Arena *arena, PolicyNews *ret_news)
{
    PolicyKnown known;
    TRY(policy_known(policies, id, arena, &known));
    *ret_news = (PolicyNews){known.facts, known.edit, known.sources, known.source_count};
    return STATUS_OK;
}

void policies_forget(Policies *policies, uint64_t id)
{
    policy_cache_forget(policies->cache, id);
}
