/* open.h -- from settings to an open store, for the entrance and for `serve`. */
#pragma once

#include "base/config.h"
#include "base/vault.h"
#include "store/store.h"

/* Opens the store that the settings name; `create` makes a new data directory. */
MUST_USE Status open_store(const Config *config, World world, bool create, Store **ret_store,
                           Reason *reason);
/* The same for loading data that can be made again: created when it is not there, and synced when it is closed. */
MUST_USE Status open_store_bulk(const Config *config, World world, Store **ret_store,
                                Reason *reason);
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
/* A sentence about settings that are allowed and hardly meant, or NULL. */
const char *open_doubt(const Config *config);
