/* page_cache_test.c -- what is kept, for how long, and who renders; with a clock that the test moves, and with threads. */
#include "web/page_cache.h"

#include <pthread.h>
#include <stdatomic.h>

#include "test.h"
#include "web/compress.h"
#include "world.h"

enum { AGE_US = 1000000, THREADS = 4, ROUNDS = 3000 };

static TestWorld own;
static World world;

static PageCache *begin_test(size_t bytes)
{
    world = test_world(&own, 1);
    return page_cache_new(bytes, world);
}

static PageKey key(const char *target)
{
    return (PageKey){slice_from(target), false};
}

static void put(PageCache *cache, const char *target, const char *body)
{
    CachedPage *page = page_new(&(PageContent){.body = slice_from(body),
                                               .made_us = clock_steady_us(world.clock),
                                               .content_type = "text/plain"});
    page_cache_put(cache, key(target), page);
    page_release(page);
}

/* What is sent for this address: the body's first byte, or '-' when the caller is to render. */
static char sent(PageCache *cache, PageKey which)
{
    CachedPage *page = page_cache_get(cache, which, (PageAge){AGE_US, 0});
    if (page == NULL)
        return '-';
    char first = page_body(page).data[0];
    page_release(page);
    return first;
}

TEST(a_page_is_sent_until_it_is_too_old)
{
    PageCache *cache = begin_test(1 << 20);
    EXPECT_I64(sent(cache, key("/a")), '-');
    put(cache, "/a", "1");
    EXPECT_I64(sent(cache, key("/a")), '1');
    EXPECT_I64(sent(cache, key("/b")), '-');
    test_world_pass(&own, AGE_US - 1);
    EXPECT_I64(sent(cache, key("/a")), '1');
    test_world_pass(&own, 1);
    EXPECT_I64(sent(cache, key("/a")), '-');
    PageCacheFigures figures = page_cache_figures(cache);
    EXPECT_I64(figures.hits, 2);
    EXPECT_I64(figures.renders, 3);
    page_cache_free(cache);
}

TEST(one_renders_while_others_get_the_old_one)
{
    PageCache *cache = begin_test(1 << 20);
    put(cache, "/a", "1");
    test_world_pass(&own, AGE_US);
    EXPECT_I64(sent(cache, key("/a")), '-');
    EXPECT_I64(sent(cache, key("/a")), '1');
    EXPECT_I64(sent(cache, key("/a")), '1');
    put(cache, "/a", "2");
    EXPECT_I64(sent(cache, key("/a")), '2');
    test_world_pass(&own, AGE_US);
    EXPECT_I64(sent(cache, key("/a")), '-');
    page_cache_free(cache);
}

TEST(a_page_from_before_a_change_is_given_to_nobody_who_knows_of_it)
{
    PageCache *cache = begin_test(1 << 20);
    test_world_pass(&own, 1);
    put(cache, "/a", "1");
    int64_t changed_us = clock_steady_us(world.clock);
    test_world_pass(&own, 1);
    for (int i = 0; i < 2; i++) /* not even while somebody renders it anew */
        EXPECT(page_cache_get(cache, key("/a"), (PageAge){AGE_US, changed_us}) == NULL);
    EXPECT_I64(sent(cache, key("/a")), '1');
    put(cache, "/a", "2");
    CachedPage *page = page_cache_get(cache, key("/a"), (PageAge){AGE_US, changed_us});
    EXPECT(page != NULL);
    EXPECT_SLICE(page_body(page), SLICE("2"));
    page_release(page);
    page_cache_free(cache);
}

TEST(a_part_of_pages_comes_with_what_its_renderer_wants_to_know)
{
    PageCache *cache = begin_test(1 << 20);
    CachedPage *part =
        page_new(&(PageContent){.body = SLICE("b"), .made_us = 7, .extra = SLICE("extra")});
    page_cache_put(cache, key("part"), part);
    page_release(part);
    part = page_cache_get(cache, key("part"), (PageAge){INT64_MAX / 2, 0});
    EXPECT(part != NULL);
    EXPECT_SLICE(page_extra(part), SLICE("extra"));
    EXPECT_I64(page_made_us(part), 7);
    page_release(part);
    page_cache_free(cache);
}

TEST(nobody_gets_a_page_of_twice_its_age)
{
    PageCache *cache = begin_test(1 << 20);
    put(cache, "/a", "1");
    test_world_pass(&own, 2 * AGE_US - 1);
    EXPECT_I64(sent(cache, key("/a")), '-');
    EXPECT_I64(sent(cache, key("/a")), '1');
    test_world_pass(&own, 1);
    EXPECT_I64(sent(cache, key("/a")), '-');
    EXPECT_I64(sent(cache, key("/a")), '-');
    page_cache_free(cache);
}

TEST(after_a_failure_the_next_one_renders)
{
    PageCache *cache = begin_test(1 << 20);
    page_cache_skip(cache, key("/a")); /* of one that was never there */
    put(cache, "/a", "1");
    test_world_pass(&own, AGE_US);
    EXPECT_I64(sent(cache, key("/a")), '-');
    page_cache_skip(cache, key("/a"));
    EXPECT_I64(sent(cache, key("/a")), '-');
    EXPECT_I64(sent(cache, key("/a")), '1');
    page_cache_free(cache);
}

TEST(who_began_later_stands)
{
    PageCache *cache = begin_test(1 << 20);
    int64_t early_us = clock_steady_us(world.clock);
    test_world_pass(&own, 5);
    put(cache, "/a", "2");
    CachedPage *page = page_new(
        &(PageContent){.body = SLICE("1"), .made_us = early_us, .content_type = "text/plain"});
    page_cache_put(cache, key("/a"), page);
    page_release(page);
    EXPECT_I64(sent(cache, key("/a")), '2');
    page_cache_free(cache);
}

TEST(the_two_forms_of_an_address_are_two_pages)
{
    PageCache *cache = begin_test(1 << 20);
    put(cache, "/a", "1");
    EXPECT_I64(sent(cache, (PageKey){SLICE("/a"), true}), '-');
    EXPECT_I64(sent(cache, key("/a?")), '-');
    page_cache_free(cache);
}

TEST(memory_is_bounded_and_what_is_asked_for_stays)
{
    enum { BYTES = 1 << 20, PAGE = 4000 };
    PageCache *cache = begin_test(BYTES);
    char body[PAGE + 1], target[32];
    memset(body, 'x', PAGE);
    body[PAGE] = '\0';
    put(cache, "/loved", "1");
    for (int i = 0; i < 2000; i++) {
        snprintf(target, sizeof target, "/page/%d", i);
        put(cache, target, body);
        EXPECT_I64(sent(cache, key("/loved")), '1');
        PageCacheFigures figures = page_cache_figures(cache);
        EXPECT(figures.bytes <= BYTES && figures.entries * 2 * PAGE <= BYTES + 2 * PAGE);
    }
    EXPECT_I64(sent(cache, key("/page/0")), '-');
    EXPECT_I64(sent(cache, key("/page/1999")), 'x');
    EXPECT(page_cache_figures(cache).entries > 60);
    page_cache_free(cache);
}

TEST(a_page_larger_than_the_cache_is_sent_but_not_kept)
{
    PageCache *cache = begin_test(16 * 1024);
    char body[3000] = "";
    memset(body, 'x', sizeof body - 1);
    CachedPage *page =
        page_new(&(PageContent){.body = slice_from(body), .content_type = "text/plain"});
    page_cache_put(cache, key("/a"), page);
    EXPECT_I64(page_body(page).size, sizeof body - 1);
    EXPECT_I64(page_cache_figures(cache).entries, 0);
    page_release(page);
    page_cache_free(cache);
}

TEST(a_page_keeps_copies_and_has_an_etag_of_its_content)
{
    char name[] = "X-A", value[] = "1", body[] = "same";
    PageHeader header = {name, value};
    PageContent content = {.body = slice_from(body),
                           .content_type = "text/plain",
                           .headers = &header,
                           .header_count = 1};
    CachedPage *first = page_new(&content), *second = page_new(&content);
    name[0] = value[0] = body[0] = '?';
    CachedPage *third = page_new(&content);
    size_t count;
    EXPECT_SLICE(slice_from(page_headers(first, &count)[0].name), SLICE("X-A"));
    EXPECT_SLICE(slice_from(page_headers(first, &count)[0].value), SLICE("1"));
    EXPECT_I64(count, 1);
    EXPECT_SLICE(page_body(first), SLICE("same"));
    EXPECT_SLICE(slice_from(page_etag(first)), slice_from(page_etag(second)));
    EXPECT(strcmp(page_etag(first), page_etag(third)) != 0);
    EXPECT(strncmp(page_etag(first), "W/\"", 3) == 0);
    page_release(first);
    page_release(second);
    page_release(third);
}

TEST(only_what_gets_smaller_is_compressed)
{
    BUFFER_SCOPE Buffer noise = {0}, out = {0};
    Random luck = test_world(&own, 7).random;
    HttpEncoding encoding = HTTP_GZIP;
    random_fill(luck, buffer_reserve(&noise, 2000), 2000);
    noise.size = 2000;
    EXPECT(!compress_to(HTTP_GZIP, buffer_slice(&noise), &out));
    EXPECT(!compress_to(HTTP_BROTLI, buffer_slice(&noise), &out));
    EXPECT(!compress_to(HTTP_GZIP, SLICE_EMPTY, &out));
    EXPECT_I64(out.size, 0);
    CachedPage *page = page_new(&(PageContent){.body = buffer_slice(&noise), .content_type = "x"});
    EXPECT_I64(page_encoded(page, SLICE("gzip, br"), &encoding).size, 2000);
    EXPECT_I64(encoding, HTTP_IDENTITY);
    page_release(page);
}

/* ---- Threads ---- */

static PageCache *shared;
static _Atomic int64_t renders;

static void *ask_many(void *argument)
{
    char body[2000];
    HttpEncoding encoding;
    unsigned turn = (unsigned)(uintptr_t)argument;
    memset(body, 'y', sizeof body);
    for (int i = 0; i < ROUNDS; i++) {
        PageKey which = key(i % 7 == 0 ? "/rare" : "/often");
        CachedPage *page = page_cache_get(shared, which, (PageAge){1, 0});
        if (page == NULL && (i + (int)turn) % 5 == 0) {
            page_cache_skip(shared, which);
            continue;
        }
        if (page == NULL) {
            renders++;
            page = page_new(&(PageContent){.body = slice_of(body, sizeof body),
                                           .made_us = clock_steady_us(world.clock),
                                           .content_type = "text/plain"});
            page_cache_put(shared, which, page);
        }
        Slice sent_body = page_encoded(page, SLICE("br, gzip"), &encoding);
        CHECK(sent_body.size == sizeof body || sent_body.size < 100);
        page_release(page);
        test_world_pass(&own, i % 3 == 0);
    }
    return NULL;
}

TEST(many_threads_share_pages)
{
    pthread_t threads[THREADS];
    shared = begin_test(1 << 18);
    renders = 0;
    for (uintptr_t i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, ask_many, (void *)i) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    EXPECT(renders > 0 && page_cache_figures(shared).hits > 0);
    page_cache_free(shared);
}
