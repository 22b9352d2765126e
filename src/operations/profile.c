/* profile.c -- one's own profile: showing it, changing the real name. See profile.h.
 *
 * A change is one conditional update of the account's row; the same request again is safe. */
#include "operations/profile.h"

#include "draw/slug.h"
#include "operations/schema_macros.h"

/* clang-format off */
static const ApiMember SALARY[] = {
    TIME("time", SalaryEntry, time_us, .help = "When its period began."),
    FIELD("pollies", SalaryEntry, pollies, .help = "How many."),
};
SCHEMA(SALARY, "Salary", SalaryEntry, SALARY, .help = "A salary.");

static const ApiMember PROFILE[] = {
    FIELD("name", MyProfile, account.name, .help = "The account's name."),
    FIELD("real_name", MyProfile, account.real_name, OR_NULL, .help = "The person's name, where it was given."),
    FIELD("real_name_shown", MyProfile, account.real_name_shown, .help = "Whether everybody may see it."),
    FIELD("balance", MyProfile, balance, .help = "Unspent pollies."),
    FIELD("voted_for", MyProfile, voted_for, .help = "How many policies they hold votes on."),
    FIELD("created", MyProfile, created, .help = "How many policies they created."),
    LIST("policies", MyProfile, policies, policy_count, MY_POLICY, .help = "The newest of them."),
    MANY("salaries", API_SOME, MyProfile, salaries, salary_count, &SCHEMA_SALARY, .help = "The newest first."),
    TIME("next_salary", MyProfile, next_salary_us, .help = "When the next one is due."),
    FIELD("next_pollies", MyProfile, next_salary, .help = "How many that will be."),
};
SCHEMA(PROFILE, "Profile", MyProfile, PROFILE, .help = "What somebody has, created and voted for.");
/* clang-format on */

/* ---- The view --------------------------------------------------------------------------------------------------------- */

static MyPolicy own_policy(const Policy *policy, Arena *arena)
{
    return (MyPolicy){policy->id, policy->text.name,
                      policy_address(policy->id, policy->text.name, arena),
                      policy->facts.moves[policy->facts.move_count - 1].state};
}

/* The newest PROFILE_POLICIES with their names; the others are counted. */
static Status add_policies(Operations *ops, Arena *arena, MyProfile *profile)
{
    PolicyQuery query = {.order = POLICIES_BY_OWNER,
                         .group = profile->account.id,
                         .position = SLICE_EMPTY,
                         .limit = POLICIES_BROWSE_MAX};
    profile->policies = ARENA_ARRAY(arena, PROFILE_POLICIES, MyPolicy);
    for (bool more = true; more && profile->created < PROFILE_POLICIES_MAX;) {
        PolicyPage page;
        TRY(policies_browse(ops->app->policies, &query, arena, &page));
        for (size_t i = 0; i < page.count && profile->policy_count < PROFILE_POLICIES; i++)
            profile->policies[profile->policy_count++] = own_policy(&page.policies[i], arena);
        profile->created += page.count;
        query.position = page.position;
        more = page.more;
    }
    return STATUS_OK;
}

static Status add_salaries(Operations *ops, Arena *arena, MyProfile *profile)
{
    SettingsHistory settings;
    int64_t registered_us = profile->account.registered_us;
    TRY(settings_read(accounts_settings(ops->app->accounts), arena, &settings));
    profile->salary_count = salary_entries(&settings, registered_us, profile->now_us,
                                           profile->salaries, PROFILE_SALARIES);
    profile->next_salary_us = salary_next_us(&settings, registered_us, profile->now_us);
    profile->next_salary = settings_at(&settings, profile->next_salary_us)->salary;
    return STATUS_OK;
}

Status my_profile(Operations *ops, const Account *account, Arena *arena, MyProfile *ret_profile)
{
    VoterState state;
    MergedLine *lines;
    MyProfile profile = {.now_us = clock_now_us(ops->app->world.clock), .account = *account};
    TRY(votes_cached(ops->app->votes, account, arena, &state));
    profile.balance = state.balance;
    TRY(votes_merged_lines(ops->app->votes, &state, arena, &lines, &profile.voted_for));
    TRY(add_policies(ops, arena, &profile));
    TRY(add_salaries(ops, arena, &profile));
    *ret_profile = profile;
    return STATUS_OK;
}

/* ---- The operations ------------------------------------------------------------------------------------------------------ */

static Status profile_show(Operations *ops, const Actor *actor, const Nothing *request,
                           Arena *arena, MyProfile *ret_profile, Reason *reason)
{
    (void)request, (void)reason;
    return my_profile(ops, actor->account, arena, ret_profile);
}

OPERATION(profile_show, Nothing, MyProfile,
          .help = "Show what somebody has, created and voted for.", .access = WEB_LOGIN,
          .asks = true, .shows = SHOWS(VOTES) | SHOWS(REAL_NAME), .answers = &SCHEMA_PROFILE,
          .api = {WEB_GET, "me/profile", .tag = "me"}, .no_page = "/my/profile shows it",
          .command = {.words = "profile show"});

typedef struct ProfileSet {
    Slice real_name;
    bool has_name, has_shown, real_name_shown;
} ProfileSet;

/* What everybody sees of the real name. */
static Slice shown_name(const Account *account)
{
    return account->real_name_shown ? account->real_name : SLICE_EMPTY;
}

/* What is left out stays. */
static Status profile_set(Operations *ops, const Actor *actor, const ProfileSet *request,
                          Arena *arena, MyProfile *ret_profile, Reason *reason)
{
    Account account = *actor->account;
    if (request->has_name)
        account.real_name = request->real_name;
    if (request->has_shown)
        account.real_name_shown = request->real_name_shown;
    TRY(accounts_set_profile(ops->app->accounts, account.id, account.real_name,
                             account.real_name_shown, reason));
    if (!slice_equal(shown_name(&account), shown_name(actor->account)))
        operations_notify(ops, CHANGE_ACCOUNT, account.id);
    operation_done();
    return my_profile(ops, &account, arena, ret_profile);
}

/* clang-format off */
OPERATION(profile_set, ProfileSet, MyProfile, .help = "Change one's real name, and whether it is shown.",
    .access = WEB_LOGIN, .shows = SHOWS(VOTES) | SHOWS(REAL_NAME), .no_audits = "it is one's own", .answers = &SCHEMA_PROFILE,
    .api = {WEB_PATCH, "me/profile", .tag = "me"}, .page = {"/my/profile", "profile", "Your profile is saved."}, .command = {.words = "profile set"},
    .inputs = {
        INPUT("real_name", ProfileSet, real_name, LINE, GIVEN(ProfileSet, has_name), .optional = true, .most = 1000,
              .help = "The real name; empty: none."),
        INPUT("real_name_shown", ProfileSet, real_name_shown, SWITCH, GIVEN(ProfileSet, has_shown), .optional = true,
              .help = "Whether everybody may see it."),
    });
/* clang-format on */
