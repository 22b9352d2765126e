/* open.h -- from settings to an open store, for the entrance and for `serve`. */
#pragma once

#include "base/config.h"
#include "base/vault.h"
#include "store/store.h"

typedef struct OpenHow {
    bool create; /* makes a new data directory */
    bool
        bulk; /* for loading data that can be made again: synced when it is closed; a cluster refuses */
    void (*say)(void *self, const char *sentence); /* what an operator should know; or NULL */
    void *self;
} OpenHow;

/* Opens the store that the settings name. */
MUST_USE Status open_store(const Config *config, World world, const OpenHow *how, Store **ret_store,
                           Reason *reason);
/* Whether all of it is in the data directory. */
bool open_is_embedded(const Config *config);
/* For `serve`: the data directory is this process's until *ret_lock is closed. CONFLICT: another one has it. An embedded store sees to
 * that itself, *ret_lock is -1 then. */
MUST_USE Status open_claim(const Config *config, World world, int *ret_lock, Reason *reason);
/* The site's key, for an open store. A new site gets one; otherwise the key's id must be the one that the store knows. REFUSED says which file
 * is missing or wrong, and what to do. `world` is the real one: the key comes from its luck. */
MUST_USE Status open_vault(const Config *config, World world, Store *store, Vault **ret_vault,
                           Reason *reason);
/* Where the key is: the setting, or beside the data directory. */
const char *open_key_path(const Config *config, Arena *arena);
/* "127.0.0.1:8080", with the real port where the setting says 0. */
const char *open_address(const Config *config, unsigned port, Arena *arena);
/* Whether the site is served on loopback only, and not by a proxy either: its public address is on loopback, too. */
bool open_is_loopback(const Config *config);
/* A sentence about settings that are allowed and hardly meant, or that serve refuses, or NULL. */
const char *open_doubt(const Config *config);
/* REFUSED: public_url says that visitors come by https, which only a proxy can speak for a server on loopback, and trusted_proxies names none. All
 * visitors would share one address, the one that no limit counts. */
MUST_USE Status open_check_proxy(const Config *config, Reason *reason);
