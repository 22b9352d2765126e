/* journals.h -- the pages of journals: all of them, and one with its figures, its dead list and its pause. What programs put is not shown, but
 * for the beginning of a key, by which an admin knows what has failed. */
#pragma once

#include "operations/journals.h"
#include "site/admin/admin.h"
#include "site/journal_rates.h"

enum { JOURNAL_PAGE_DEAD = 50, JOURNAL_KEY_SHOWN = 80 };

typedef struct JournalLine {
    JournalShown shown;
    int64_t puts, ends; /* in the last minute */
} JournalLine;

typedef struct JournalsPage {
    Form form;
    JournalsShown shown;
    JournalLine *lines;
    Arena *arena;
} JournalsPage;

typedef struct JournalDead {
    JournalEntry entry;
    Slice id, key; /* the key's beginning */
} JournalDead;

typedef struct JournalPage {
    Form form; /* the pause, unless another was sent */
    Form pause;
    JournalShown shown;
    JournalRateView rates;
    Markup puts_chart, ends_chart;
    bool has_charts;
    JournalDead *dead;
    size_t dead_count;
    Slice path, more; /* the page's own address, and that of the next entries */
    int64_t now_us;
    Arena *arena;
} JournalPage;
