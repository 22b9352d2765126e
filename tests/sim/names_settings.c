/* names_settings.c -- a change of a setting never changes the past: whoever judged by a version at a time was right for ever. */
#include "names.h"

static void check(Run *run, Store *store, Arena *arena)
{
    const Names *names = run_state(run);
    World world = {.clock = sim_world_clock(sim_world(run_sim(run))),
                   .random = world_real().random};
    Accounts *accounts = names_accounts(run, store, world);
    SettingsHistory history = {NULL, 0};
    if (settings_read(accounts_settings(accounts), arena, &history) != STATUS_OK)
        run_violated(run, "a healed cluster does not tell its settings");
    for (const NamesJudged *judged = names->judged; judged != NULL && history.count > 0;
         judged = judged->next) {
        uint32_t version = settings_at(&history, judged->time_us)->version;
        if (version != judged->version)
            run_violated(run, "version %u was in force, and is %u now at the same time",
                         judged->version, version);
    }
    accounts_free(accounts);
}

const Checker CHECK_NAMES_SETTINGS = {"settings do not change the past", check};
