/* token.c -- see token.h. */
#include "store/cql/token.h"

static const uint64_t C1 = UINT64_C(0x87c37b91114253d5), C2 = UINT64_C(0x4cf5ad432745937f);

static uint64_t rotate(uint64_t number, int by)
{
    return number << by | number >> (64 - by);
}

static uint64_t stir(uint64_t number)
{
    number ^= number >> 33;
    number *= UINT64_C(0xff51afd7ed558ccd);
    number ^= number >> 33;
    number *= UINT64_C(0xc4ceb9fe1a85ec53);
    return number ^ number >> 33;
}

static uint64_t mix_first(uint64_t block)
{
    return rotate(block * C1, 31) * C2;
}

static uint64_t mix_second(uint64_t block)
{
    return rotate(block * C2, 33) * C1;
}

static uint64_t block_at(const char *bytes)
{
    uint64_t block;
    memcpy(&block, bytes, sizeof block); /* little-endian, as this machine */
    return block;
}

/* Up to 8 bytes, each of them sign-extended before it is shifted to its place: Java has no others. */
static uint64_t signed_tail(const char *bytes, size_t size)
{
    uint64_t block = 0;
    for (size_t i = 0; i < size; i++)
        block ^= (uint64_t)(int64_t)(int8_t)bytes[i] << (8 * i);
    return block;
}

int64_t token_of(Slice key)
{
    uint64_t h1 = 0, h2 = 0;
    size_t whole = key.size / 16 * 16, rest = key.size - whole;
    for (size_t at = 0; at < whole; at += 16) {
        h1 = rotate(h1 ^ mix_first(block_at(key.data + at)), 27) + h2;
        h1 = h1 * 5 + 0x52dce729;
        h2 = rotate(h2 ^ mix_second(block_at(key.data + at + 8)), 31) + h1;
        h2 = h2 * 5 + 0x38495ab5;
    }
    if (rest > 8)
        h2 ^= mix_second(signed_tail(key.data + whole + 8, rest - 8));
    if (rest > 0)
        h1 ^= mix_first(signed_tail(key.data + whole, rest < 8 ? rest : 8));
    h1 ^= key.size;
    h2 ^= key.size;
    h1 += h2;
    h2 += h1;
    h1 = stir(h1) + stir(h2);
    return (int64_t)h1 == INT64_MIN ? INT64_MAX : (int64_t)h1;
}
