/* site_facts.h -- facts about the whole site that every instance shares, in table `site`.
 *
 * Today: maintenance mode, the id of the key that personal data is sealed with, and whether all of it is invented. A change is one conditional update on what stood
 * before, with a receipt as its proof, so two operators at once cannot both believe that theirs stands; a crash leaves the old or the
 * new state. */
#pragma once

#include "store/store.h"

enum { SITE_MESSAGE_MAX = 300 };

/* The message when maintenance is on; data NULL when it is off. */
MUST_USE Status site_maintenance(Store *store, Arena *arena, Slice *ret_message);
/* data NULL turns it off. INVALID for a message that is too long or not text; CONFLICT when somebody else changed it in
 * the same moment. */
MUST_USE Status site_set_maintenance(Store *store, World world, Slice message, Reason *reason);

/* The id of the site's key (base/vault.h); data NULL when it has none yet. */
MUST_USE Status site_key(Store *store, Arena *arena, Slice *ret_id);
/* Once: CONFLICT when there is one already. */
MUST_USE Status site_set_key(Store *store, World world, Slice id);

/* Whether the site was filled by demo.h: its people are invented, and three of them have a password that everybody knows. */
MUST_USE Status site_is_demo(Store *store, bool *ret_demo);
/* Once; again is fine. */
MUST_USE Status site_set_demo(Store *store, World world);
