/* page_cache.h -- pages that many visitors ask for, rendered once and shared.
 *
 * A page is found by its key (what names it, and its form) and shared by reference: whoever sends it holds it, and its bytes are
 * never copied. Promises:
 *   1. What page_cache_get gives is at most `most_us` old; while another thread renders it anew, at most twice that; and its
 *      rendering began after `since_us`, always.
 *   2. When a page that is there has become too old, one caller is told to render it and the others get the old one meanwhile, so
 *      a busy page costs one rendering each `most_us`. Only a page that is not there, or far too old, is rendered by
 *      whoever asks: by no more than there are threads that answer.
 *   3. At most `bytes` are kept; what was not asked for the longest goes first, by about an eighth of what is kept. A page counts twice, because its compressed
 *      forms are kept beside it.
 * All functions may be called from any thread. Everything is in memory: a restart begins with nothing. */
#pragma once

#include "base/world.h"
#include "web/http_rules.h"

typedef struct PageCache PageCache;
typedef struct CachedPage CachedPage;

enum { PAGE_HEADERS_MAX = 16, PAGE_ETAG_TEXT = 40 };

typedef struct PageHeader {
    const char *name, *value;
} PageHeader;

/* ---- A page: immutable, counted ---- */

/* Copies all of it; the caller holds the page. */
typedef struct PageContent {
    Slice body;
    int64_t made_us; /* steady clock, when its rendering began: what it shows is not older */
    const char
        *content_type; /* NULL: a part of pages, which is not sent by itself and has no etag */
    const PageHeader *headers;
    size_t header_count;
    Slice extra; /* what the renderer wants to know of it later */
} PageContent;
CachedPage *page_new(const PageContent *content);
void page_release(CachedPage *page);

/* These live as long as the page is held. */
Slice page_body(const CachedPage *page);
const char *page_content_type(const CachedPage *page);
/* Aligned for any type. */
Slice page_extra(const CachedPage *page);
int64_t page_made_us(const CachedPage *page);
const PageHeader *page_headers(const CachedPage *page, size_t *ret_count);
/* W/"…": a hash of the body, weak because it stands for all encodings. */
const char *page_etag(const CachedPage *page);
/* The body in the best encoding that the client takes and that there is. A form that is missing is made by the first who wants
 * it; others get the plain one meanwhile, as does everyone when it would not be smaller. */
Slice page_encoded(CachedPage *page, Slice accept_encoding, HttpEncoding *ret_encoding);
/* The head of the answer with the page in this encoding, for whoever sends it so the next time; empty: there is none yet. */
Slice page_head(const CachedPage *page, HttpEncoding encoding);
/* Keeps a copy, and returns what is kept: another thread may have been faster. */
Slice page_keep_head(CachedPage *page, HttpEncoding encoding, Slice head);

/* ---- The cache ---- */

typedef struct PageKey {
    Slice name;
    bool is_json;
} PageKey;

/* How old it may be; since_us is a moment of the steady clock, 0 for none. */
typedef struct PageAge {
    int64_t most_us, since_us;
} PageAge;

PageCache *page_cache_new(size_t bytes, World world);
/* No request is under way any more. */
void page_cache_free(PageCache *cache);

/* A page that the caller now holds; or NULL: the caller renders it, and must call page_cache_put or page_cache_skip. */
CachedPage *page_cache_get(PageCache *cache, PageKey key, PageAge age);
/* The same, but NULL tells the caller nothing new. */
CachedPage *page_cache_find(PageCache *cache, PageKey key, PageAge age);
/* The cache holds it, too, unless it is larger than what the cache may hold. */
void page_cache_put(PageCache *cache, PageKey key, CachedPage *page);
/* It could not be rendered, or must not be kept. */
void page_cache_skip(PageCache *cache, PageKey key);

typedef struct PageCacheFigures {
    uint64_t hits;    /* sent from here */
    uint64_t renders; /* callers who were told to render */
    uint64_t entries, bytes;
} PageCacheFigures;
PageCacheFigures page_cache_figures(PageCache *cache);
