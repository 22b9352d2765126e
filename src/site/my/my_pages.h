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

/* What every form that saves votes carries. */
typedef struct VoteForm {
    const Viewer *viewer;
    Slice seen, token;
    FormFault fault;
} VoteForm;

/* /my/votes, and with one line /my/votes/12. */
typedef struct MyVotesPage {
    MyVotes *votes;
    VoteForm form;
    Slice typed; /* one line: what stands in the field */
    Chooser orders;
} MyVotesPage;

/* A change that a page asks about: from what is stored to what is wanted. */
typedef struct AskedLine {
    MyPolicy policy;
    int64_t before, wanted;
    bool has_was; /* the form said what the line held as it was seen: */
    int64_t was;
} AskedLine;

/* "Taking back 20 costs 10", and "We do not know whether it was saved". */
typedef struct ConfirmPage {
    VoteForm form;
    Slice title;
    VotePrice price;
    int64_t agreed;  /* the price that the form came with */
    uint64_t policy; /* whose form it was; 0: that of all lines */
    bool is_known;   /* what is stored could be read: AskedLine.before */
    AskedLine *lines;
    size_t count;
} ConfirmPage;

typedef struct ConflictPage {
    const MyConflict *conflict;
    VoteForm form;
} ConflictPage;

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
