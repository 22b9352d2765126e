/* assets.c -- see assets.h. */
#include "web/assets.h"

const Asset *asset_named(Slice name)
{
    for (size_t i = 0; i < ASSET_COUNT; i++)
        if (slice_equal(ASSETS[i].name, name))
            return &ASSETS[i];
    return NULL;
}

const Asset *asset_at(Slice address)
{
    for (size_t i = 0; i < ASSET_COUNT; i++)
        if (slice_equal(ASSETS[i].address, address))
            return &ASSETS[i];
    return NULL;
}

Slice asset_address(const char *name)
{
    const Asset *asset = asset_named(slice_from(name));
    CHECK(asset != NULL);
    return asset->address;
}

unsigned asset_encodings(const Asset *asset)
{
    unsigned encodings = 1u << HTTP_IDENTITY;
    for (int i = 0; i < HTTP_IDENTITY; i++)
        if (asset->bodies[i].size > 0)
            encodings |= 1u << i;
    return encodings;
}
