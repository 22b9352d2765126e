/* my_pages.h -- what the pages of one's own show beside the views: forms, with their tokens and faults. */
#pragma once

#include "site/my_views.h"

/* What every form that saves votes carries. */
typedef struct VoteForm {
    const Viewer *viewer;
    Slice seen, token;
    FormFault fault;
} VoteForm;

/* /my/votes, and with one line /my/votes/12. */
typedef struct VotesPage {
    MyVotes *votes;
    VoteForm form;
    Slice typed; /* one line: what stands in the field */
    Chooser orders;
} VotesPage;

/* A change that a page asks about: from what stands to what is wanted. */
typedef struct AskedLine {
    MyPolicy policy;
    int64_t before, wanted;
} AskedLine;

/* "Taking back 20 costs 10", and "We do not know whether it was saved". */
typedef struct AskPage {
    VoteForm form;
    Slice title;
    VotePrice price;
    int64_t agreed;  /* the price that the form came with */
    uint64_t policy; /* whose form it was; 0: that of all lines */
    AskedLine *lines;
    size_t count;
} AskPage;

typedef struct ConflictPage {
    const MyConflict *conflict;
    VoteForm form;
} ConflictPage;

typedef struct HistoryPage {
    const MyHistory *history;
    Pager pager;
} HistoryPage;

typedef struct ProfilePage {
    const MyProfile *profile;
    const Viewer *viewer;
    Slice real_name; /* as typed */
    bool shown;
    FormFault fault;
} ProfilePage;

typedef struct WatchingPage {
    const MyWatching *watching;
    const Viewer *viewer;
} WatchingPage;

typedef struct NoticesPage {
    const MyNotices *notices;
    const Viewer *viewer;
} NoticesPage;
