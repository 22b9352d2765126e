/* my_pages.h -- what the pages of one's own show beside the views: forms, with their tokens and faults. */
#pragma once

#include "operations/mailbox.h"
#include "operations/notices.h"
#include "operations/profile.h"
#include "operations/vote_history.h"
#include "operations/votes.h"
#include "operations/watching.h"
#include "site/forms.h"
#include "site/parts.h"

/* A change that a page asks about: from what is stored to what is wanted. */
typedef struct AskedLine {
    MyPolicy policy;
    int64_t before, wanted;
} AskedLine;

/* What the form is sent for is saved, or it is drawn as one of these. */
typedef enum VotesKind {
    VOTES_SHOWN, /* or refused */
    VOTES_PRICE, /* taking back costs, and that was not agreed to */
    VOTES_STALE,
    VOTES_UNKNOWN,
} VotesKind;

/* /my/votes, and with one line /my/votes/12. */
typedef struct VotesPage {
    Form form;
    VotesKind kind;
    bool may_vote; /* the right to vote was not taken away */
    Slice title;
    Slice seen;    /* the version that is shown */
    MyVotes votes; /* SHOWN */
    Chooser orders;
    MyConflict conflict; /* STALE */
    VotePrice price;     /* PRICE */
    bool is_known;       /* PRICE, UNKNOWN: what is stored could be read: AskedLine.before */
    AskedLine *lines;    /* PRICE, UNKNOWN */
    size_t count;
} VotesPage;

typedef struct HistoryPage {
    const MyHistory *history;
    Pager pager;
} HistoryPage;

typedef struct ProfilePage {
    Form form;
    MyProfile profile;
} ProfilePage;

typedef struct WatchingPage {
    Form form;
    MyWatching watching;
} WatchingPage;

typedef struct NoticesPage {
    Form form;
    MyNotices notices;
} NoticesPage;

typedef struct MailboxPage {
    Form form;
    MyMailbox mailbox;
} MailboxPage;
