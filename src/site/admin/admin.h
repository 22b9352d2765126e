/* admin.h -- the pages of those who run the site: what their pages show. What is done here is done by the operations.
 *
 * What somebody holds or voted for is on none of these pages. All pages also answer in maintenance mode, so that it can be switched off here. */
#pragma once

#include "app/journal_watch.h"
#include "operations/audit_list.h"
#include "operations/background_tasks.h"
#include "operations/electorate.h"
#include "operations/mail_state.h"
#include "operations/people.h"
#include "operations/privacy.h"
#include "operations/site_texts.h"
#include "operations/store_state.h"
#include "operations/vote_settings.h"
#include "site/forms.h"
#include "site/parts.h"
#include "site/site_private.h"

/* How each row of these pages begins. */
#define ADMIN_ROW(roles_) .access = WEB_ROLE, .roles = (roles_), .always = true

/* ---- At a glance (glance.c) ---------------------------------------------------------------------------------------- */

enum { GLANCE_AUDIT = 8 };

typedef struct GlanceView {
    int64_t now_us;
    StoreHealth health;
    StoreState maintenance;
    uint64_t instances, tasks_failing, letters_failed, settings_ahead;
    Electorate electorate;
    JournalAlarms journals;
    AuditLineList acts;
} GlanceView;

/* ---- People (people.c) ----------------------------------------------------------------------------------------------- */

/* Begins with the form that was sent, which is for their rights or their sessions. */
typedef struct PersonPage {
    Form form;
    Form rights;
    PersonView person;
} PersonPage;

/* ---- Categories and parties (groups.c) ----------------------------------------------------------------------------------------------- */

/* The page of all categories, or of all parties. */
typedef struct GroupsPage {
    Form form; /* the one that was sent, or that adds one */
    GroupKind kind;
    const char *path;
    PolicyGroup *groups;
    size_t count;
} GroupsPage;

/* ---- Settings (settings.c) ------------------------------------------------------------------------------------------- */

/* Begins with the form that was sent; that for a rule is beside it. */
typedef struct SettingsPage {
    Form form;
    Form change;
    SettingsView settings;
    bool is_preview;
    SettingPreview preview;
} SettingsPage;

/* ---- Activity (activity.c) --------------------------------------------------------------------------------------------- */

typedef struct ActivityView {
    int64_t now_us;
    AuditListQuery want;
    FormFault fault;
    AuditLineList list;
    Pager pager;
    Instance *instances;
    size_t instance_count;
} ActivityView;

/* ---- Tasks and store (machine.c) ------------------------------------------------------------------------------------- */

typedef struct TasksPage {
    Form form;
    TaskList list;
} TasksPage;

typedef struct StorePage {
    Form form;
    StoreState store;
} StorePage;

/* ---- E-mails (mail.c) ------------------------------------------------------------------------------------------------- */

typedef struct MailPage {
    Form form;
    MailQueue mail;
    Arena *arena;
} MailPage;

/* ---- Who may join (electorate.c) ------------------------------------------------------------------------------------- */

/* Begins with the form that was sent; the four that have fields are beside it. */
typedef struct ElectoratePage {
    Form form;
    Form rule, invite, invites, roll;
    int64_t now_us;
    bool can_mail;
    ElectorateView electorate;
    InvitationsView invitations;
} ElectoratePage;

/* ---- Texts (texts.c) --------------------------------------------------------------------------------------------------- */

typedef struct TextsPage {
    Form form;
    int64_t now_us;
    TextKind kind;
    SiteText stands;
    bool shows_typed; /* `shown` is what the form has, else what stands */
    Markup shown;
    SiteText *revisions;
    size_t revision_count;
} TextsPage;

typedef struct TextPage {
    const char *title;
    SiteText text;
    Markup shown;
    const PrivacyView *privacy; /* NULL: it is about something else */
    int64_t now_us;
} TextPage;
