/* assets.h -- style sheets, scripts and pictures that are built into the program.
 *
 * tools/assets.py turns src/web/assets/ into a table at build time. An asset's address holds a hash of its content
 * (/assets/site.3f2a9c01d4e5b677.css), so browsers may keep it for ever and a new version has a new address. Each is
 * stored as it is and, where that is smaller, in gzip and Brotli. */
#pragma once

#include "web/http_rules.h"

typedef struct Asset {
    Slice name;                   /* site.css */
    Slice address;                /* /assets/site.3f2a9c01d4e5b677.css */
    const char *type;             /* text/css; charset=utf-8 */
    const char *etag;             /* weak, since it is the same for all encodings */
    Slice bodies[HTTP_ENCODINGS]; /* size 0: not stored in this encoding */
} Asset;

/* The generated table. */
extern const Asset ASSETS[];
extern const size_t ASSET_COUNT;

/* The address of an asset by its plain name; one that does not exist is a bug. */
Slice asset_address(const char *name);
/* NULL when no asset has this plain name, or this address. */
const Asset *asset_named(Slice name);
const Asset *asset_at(Slice address);
/* Bit 1 << HttpEncoding for each stored form. */
unsigned asset_encodings(const Asset *asset);
