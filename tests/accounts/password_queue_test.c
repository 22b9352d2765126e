/* password_queue_test.c -- at most so many passwords are computed at once, so many wait, and the rest is told at once. */
#include "access/credentials.h"
#include "accounts_fixture.h"

enum { AT_ONCE = 2, QUEUE = 3, CALLERS = 12 };

typedef struct Slow {
    Accounts *accounts;
    atomic_int inside, most, started, busy, done;
    atomic_bool open;
} Slow;

/* Until the test opens the door. */
static Status slow_hash(void *self, Slice password, Arena *arena, Slice *ret_hash)
{
    Slow *slow = self;
    int inside = atomic_fetch_add(&slow->inside, 1) + 1, most = atomic_load(&slow->most);
    while (inside > most && !atomic_compare_exchange_weak(&slow->most, &most, inside))
        continue;
    while (!atomic_load(&slow->open))
        clock_sleep_us(world_real().clock, 1000);
    atomic_fetch_sub(&slow->inside, 1);
    *ret_hash = arena_copy(arena, password);
    return STATUS_OK;
}

static bool slow_check(void *self, Slice password, Slice hash)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Slice computed;
    (void)!slow_hash(self, password, arena, &computed);
    return slice_equal(password, hash);
}

static void log_in(int index, void *context)
{
    Slow *slow = context;
    ARENA_SCOPE Arena *arena = arena_new();
    Account account;
    /* Somebody who is there, and somebody who is not. */
    Status status = credentials_check_password(slow->accounts,
                                               index % 2 == 0 ? SLICE("alice") : SLICE("nobody"),
                                               SLICE("wrong horses"), arena, &account);
    CHECK(status == STATUS_LOGIN || status == STATUS_THROTTLED);
    atomic_fetch_add(status == STATUS_LOGIN ? &slow->done : &slow->busy, 1);
    /* All who come too late were told while nobody was through yet. */
    if (status == STATUS_THROTTLED && atomic_load(&slow->busy) == CALLERS - AT_ONCE - QUEUE)
        atomic_store(&slow->open, true);
}

TEST(a_flood_of_logins_is_bounded)
{
    fixture_begin();
    fixture_confirmed("alice");
    Slow slow = {.accounts = NULL};
    AccountsOptions options = fixture_options(fixture.store);
    options.hasher = (PasswordHasher){slow_hash, slow_check, &slow};
    options.passwords = (PasswordBounds){AT_ONCE, QUEUE};
    slow.accounts = accounts_new(&options);
    contract_threads(CALLERS, log_in, &slow);
    EXPECT_I64(slow.most, AT_ONCE);
    EXPECT_I64(slow.done, AT_ONCE + QUEUE);
    EXPECT_I64(slow.busy, CALLERS - AT_ONCE - QUEUE);
    /* And then it is open again. */
    log_in(0, &slow);
    EXPECT_I64(slow.done, AT_ONCE + QUEUE + 1);
    accounts_free(slow.accounts);
    fixture_end();
}
