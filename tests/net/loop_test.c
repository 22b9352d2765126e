/* loop_test.c -- sockets, posts and timers of one thread's loop; and several threads that post and wake. */
#include "net/loop.h"

#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "test.h"
#include "world.h"

/* ---- The order of a turn ---- */

static char story[64];
static size_t story_size;

static void tell(char what)
{
    EXPECT(story_size + 1 < sizeof story);
    story[story_size++] = what;
    story[story_size] = '\0';
}

typedef struct Actor {
    char name;
    NetLoop *loop;
    NetWatch watch;
    NetPost post;
    Timer timer;
    int fd;
    uint32_t events;
    struct Actor *then; /* is posted by this one's event */
} Actor;

static void on_event(NetWatch *watch, uint32_t events)
{
    Actor *actor = OWNER_OF(watch, Actor, watch);
    char byte;
    actor->events = events;
    (void)!recv(actor->fd, &byte, 1, MSG_DONTWAIT);
    tell(actor->name);
    if (actor->then != NULL)
        net_loop_post(actor->loop, &actor->then->post);
}

static void on_post(NetPost *post)
{
    tell(OWNER_OF(post, Actor, post)->name);
}

static void on_timer(Timer *timer)
{
    tell(OWNER_OF(timer, Actor, timer)->name);
}

static Actor actor(NetLoop *loop, char name)
{
    return (Actor){.name = name,
                   .loop = loop,
                   .watch = {on_event},
                   .post = {.run = on_post},
                   .timer = {.due = on_timer}};
}

static void begin(NetLoop *loop, TestWorld *own)
{
    net_loop_open(loop, test_world(own, 1).clock);
    story_size = 0;
    story[0] = '\0';
}

static void pair(int fds[2])
{
    EXPECT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) == 0);
}

TEST(a_turn_is_events_then_posts_in_their_order_then_timers)
{
    TestWorld own;
    NetLoop loop;
    int fds[2];
    begin(&loop, &own);
    pair(fds);
    Actor e = actor(&loop, 'e'), t = actor(&loop, 't'), u = actor(&loop, 'u');
    Actor p = actor(&loop, 'p'), q = actor(&loop, 'q'), r = actor(&loop, 'r');
    e.fd = fds[0];
    e.then = &r;
    EXPECT(net_loop_watch(&loop, e.fd, EPOLLIN, &e.watch));
    timers_set(&loop.timers, &t.timer, loop.now_us + 10);
    timers_set(&loop.timers, &u.timer, loop.now_us + 20);
    net_loop_post(&loop, &p.post);
    net_loop_post(&loop, &q.post);
    EXPECT(write(fds[1], "x", 1) == 1);
    test_world_pass(&own, 10);
    net_loop_turn(&loop, INT64_MAX);
    EXPECT_SLICE(slice_from(story), SLICE("epqrt"));
    test_world_pass(&own, 10);
    net_loop_turn(&loop, INT64_MAX);
    EXPECT_SLICE(slice_from(story), SLICE("epqrtu"));
    close(fds[0]);
    close(fds[1]);
    net_loop_close(&loop);
}

static void post_again(NetPost *post)
{
    Actor *actor = OWNER_OF(post, Actor, post);
    tell(actor->name);
    if (story_size < 3)
        net_loop_post(actor->loop, post);
}

TEST(a_post_may_be_posted_again_as_soon_as_it_runs)
{
    TestWorld own;
    NetLoop loop;
    begin(&loop, &own);
    Actor p = actor(&loop, 'p');
    p.post.run = post_again;
    net_loop_post(&loop, &p.post);
    while (story_size < 3)
        net_loop_turn(&loop, INT64_MAX);
    net_loop_turn(&loop, 0);
    EXPECT_SLICE(slice_from(story), SLICE("ppp"));
    net_loop_close(&loop);
}

TEST(a_watch_hears_what_it_asked_for_until_it_is_forgotten)
{
    TestWorld own;
    NetLoop loop;
    int fds[2];
    begin(&loop, &own);
    pair(fds);
    Actor e = actor(&loop, 'e');
    e.fd = fds[0];
    net_loop_forget(&loop, e.fd); /* one that is not watched is fine */
    EXPECT(net_loop_watch(&loop, e.fd, EPOLLIN, &e.watch));
    net_loop_turn(&loop, 0);
    EXPECT_SLICE(slice_from(story), SLICE(""));
    net_loop_change(&loop, e.fd, EPOLLIN | EPOLLOUT, &e.watch);
    net_loop_turn(&loop, 0);
    EXPECT_SLICE(slice_from(story), SLICE("e"));
    EXPECT_I64(e.events, EPOLLOUT);
    net_loop_forget(&loop, e.fd);
    EXPECT(write(fds[1], "x", 1) == 1);
    net_loop_turn(&loop, 0);
    EXPECT_SLICE(slice_from(story), SLICE("e"));
    close(fds[0]);
    close(fds[1]);
    net_loop_close(&loop);
}

static Actor *ended[2];

static void end_both(NetPost *post)
{
    tell(OWNER_OF(post, Actor, post)->name);
    for (size_t i = 0; i < 2; i++) {
        close(ended[i]->fd);
        free(ended[i]);
    }
}

/* All of a batch are served before a post runs. */
TEST(a_post_may_end_sockets_that_told_something_in_the_same_turn)
{
    TestWorld own;
    NetLoop loop;
    int others[2];
    begin(&loop, &own);
    Actor end = actor(&loop, 'f');
    end.post.run = end_both;
    net_loop_post(&loop, &end.post);
    for (size_t i = 0; i < 2; i++) {
        int fds[2];
        pair(fds);
        ended[i] = malloc(sizeof *ended[i]);
        *ended[i] = actor(&loop, 'a');
        ended[i]->fd = fds[0];
        others[i] = fds[1];
        EXPECT(net_loop_watch(&loop, fds[0], EPOLLIN, &ended[i]->watch));
        EXPECT(write(fds[1], "x", 1) == 1);
    }
    net_loop_turn(&loop, INT64_MAX);
    EXPECT_SLICE(slice_from(story), SLICE("aaf"));
    close(others[0]);
    close(others[1]);
    net_loop_close(&loop);
}

TEST(a_loop_that_waits_is_not_busy)
{
    TestWorld own;
    NetLoop loop;
    begin(&loop, &own);
    EXPECT_I64(net_loop_busy_us(&loop), 0);
    net_loop_turn(&loop, 0);
    test_world_pass(&own, 30);
    EXPECT_I64(net_loop_busy_us(&loop), 30);
    net_loop_wait(&loop, 0);
    EXPECT_I64(net_loop_busy_us(&loop), 0);
    net_loop_close(&loop);
}

/* On the machine's clock: a wait that ended early would leave the timer for another turn. */
TEST(a_wait_lasts_until_the_first_timer_is_due)
{
    NetLoop loop;
    net_loop_open(&loop, world_real().clock);
    story_size = 0;
    Actor t = actor(&loop, 't');
    for (int64_t us = 100; us <= 5000; us += 700) {
        timers_set(&loop.timers, &t.timer, clock_steady_us(loop.clock) + us);
        net_loop_turn(&loop, INT64_MAX);
        EXPECT(!timer_is_set(&t.timer));
    }
    net_loop_close(&loop);
}

/* ---- Threads ---- */

enum { POSTERS = 4, POSTS = 20000 };

typedef struct Letter {
    NetPost post;
    unsigned poster, number;
} Letter;

typedef struct Poster {
    NetLoop *loop;
    Letter *letters;
} Poster;

static unsigned next_of[POSTERS];
static unsigned arrived;

static void read_letter(NetPost *post)
{
    Letter *letter = OWNER_OF(post, Letter, post);
    EXPECT_I64(letter->number, next_of[letter->poster]);
    next_of[letter->poster]++;
    arrived++;
}

static void *post_all(void *context)
{
    Poster *poster = context;
    for (size_t i = 0; i < POSTS; i++)
        net_loop_post(poster->loop, &poster->letters[i].post);
    return NULL;
}

TEST(posts_of_many_threads_all_arrive_each_in_its_order)
{
    static Letter letters[POSTERS][POSTS];
    NetLoop loop;
    pthread_t threads[POSTERS];
    Poster posters[POSTERS];
    net_loop_open(&loop, world_real().clock);
    arrived = 0;
    for (unsigned i = 0; i < POSTERS; i++) {
        next_of[i] = 0;
        for (unsigned k = 0; k < POSTS; k++)
            letters[i][k] = (Letter){.post = {.run = read_letter}, .poster = i, .number = k};
        posters[i] = (Poster){&loop, letters[i]};
        EXPECT(pthread_create(&threads[i], NULL, post_all, &posters[i]) == 0);
    }
    while (arrived < POSTERS * POSTS)
        net_loop_turn(&loop, INT64_MAX);
    for (unsigned i = 0; i < POSTERS; i++)
        pthread_join(threads[i], NULL);
    net_loop_close(&loop);
}

typedef struct Last {
    NetLoop loop;
    NetPost post;
    bool ran;
} Last;

static void run_last(NetPost *post)
{
    OWNER_OF(post, Last, post)->ran = true;
}

static void *post_last(void *context)
{
    Last *last = context;
    net_loop_post(&last->loop, &last->post);
    return NULL;
}

/* The thread that posted may not have returned from it yet: it has nothing to do with the loop after that. */
TEST(a_loop_may_be_freed_as_soon_as_the_last_post_has_run)
{
    for (int i = 0; i < 2000; i++) {
        pthread_t thread;
        Last *last = calloc(1, sizeof *last);
        EXPECT(last != NULL);
        last->post.run = run_last;
        net_loop_open(&last->loop, world_real().clock);
        EXPECT(pthread_create(&thread, NULL, post_last, last) == 0);
        while (!last->ran)
            net_loop_turn(&last->loop, 0);
        net_loop_close(&last->loop);
        free(last);
        pthread_join(thread, NULL);
    }
}

typedef struct Partner {
    NetLoop loop;
    NetPost post;
    unsigned rounds, wanted;
    _Atomic bool ends;
} Partner;

static Partner partners[2];

static void play(NetPost *post)
{
    Partner *own = OWNER_OF(post, Partner, post);
    Partner *other = own == &partners[0] ? &partners[1] : &partners[0];
    if (++own->rounds == own->wanted)
        atomic_store(&own->ends, true);
    net_loop_post(&other->loop, &other->post);
}

static void *play_on(void *context)
{
    Partner *own = context;
    while (!atomic_load(&own->ends))
        net_loop_turn(&own->loop, INT64_MAX);
    return NULL;
}

/* Each waits for ever until the other posts: one wake that is lost, and this never ends. */
TEST(two_loops_that_wake_each_other_never_miss_one)
{
    pthread_t thread;
    for (size_t i = 0; i < 2; i++) {
        partners[i] = (Partner){.post = {.run = play}, .wanted = 20000};
        net_loop_open(&partners[i].loop, world_real().clock);
    }
    EXPECT(pthread_create(&thread, NULL, play_on, &partners[1]) == 0);
    net_loop_post(&partners[0].loop, &partners[0].post);
    play_on(&partners[0]);
    pthread_join(thread, NULL);
    for (size_t i = 0; i < 2; i++)
        net_loop_close(&partners[i].loop);
}

static void *wake_until(void *context)
{
    Partner *partner = context;
    atomic_store(&partner->ends, true);
    net_loop_wake(&partner->loop);
    return NULL;
}

TEST(a_wake_ends_a_wait_whether_it_comes_before_or_during_it)
{
    for (int i = 0; i < 500; i++) {
        pthread_t thread;
        Partner *partner = &partners[0];
        *partner = (Partner){0};
        net_loop_open(&partner->loop, world_real().clock);
        EXPECT(pthread_create(&thread, NULL, wake_until, partner) == 0);
        while (!atomic_load(&partner->ends))
            net_loop_turn(&partner->loop, INT64_MAX);
        pthread_join(thread, NULL);
        net_loop_close(&partner->loop);
    }
}
