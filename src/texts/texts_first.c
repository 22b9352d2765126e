/* texts_first.c -- the texts that a site has until somebody writes its own: what this software keeps, in plain words. Whatever can be read
 * from a table (cookies, periods, who sees what) is not here: the page prints it below (operations/privacy.h). */
#include "texts/texts.h"

static const char PRIVACY[] =
    "This page says what the software that runs this site keeps about you. Those who run the site "
    "can change these words; who they are, and how to reach them, they must add themselves. Who "
    "sees what, how long it is kept, and which cookies there are, is said below by the software "
    "itself.\n\n"
    "## What is kept\n\n"
    "- **Your account**: the name that everybody sees, your e-mail address, a hash of your "
    "password, when you joined. Your e-mail address and your real name, if you gave one, are "
    "encrypted with a key that is not in the database.\n"
    "- **Your votes**: what you hold on which policy, and when you changed it. No page shows them "
    "to anybody but you; everybody sees the totals only. An entry of the ledger never changes, so "
    "that totals can be recomputed.\n"
    "- **Where you are logged in, and your log-ins, also those that failed**: when, from which "
    "network address and with which program, encrypted. You see it under *Where you are logged "
    "in*.\n"
    "- **Signals of duplicate accounts**: what your registration has in common with others (the "
    "same mailbox, network address or browser), as hashes that cannot be turned back.\n"
    "- **E-mails to you**: until they are sent, and after that only that they were; one that could "
    "not be sent is kept with its text.\n"
    "- **What is done by those who run the site**: who did what, when, from where and why. When "
    "they give a command in your name, or look at what is yours by one, you get a notice.\n\n"
    "## What you can do\n\n"
    "- See and change what stands in your profile, end your sessions, have your tokens end, "
    "download all that is kept of you.\n"
    "- Delete your account: your votes are withdrawn, your name and address are released, your "
    "sessions and log-ins are deleted. Policies that you proposed stay, "
    "without your name; the ledger keeps its entries under a number that belongs to nobody any "
    "more.\n";

static const char TERMS[] =
    "These are the rules that the software of this site enforces. Those who run the site can add "
    "their own here.\n\n"
    "- One person, one account. Accounts that belong together may be looked into.\n"
    "- Votes are earned over time and cannot be bought, sold or given away.\n"
    "- What you propose is public, stays public, and can be edited by you; every version is kept.\n"
    "- Policies can be merged, retired or deleted by moderators, with a reason that everybody can "
    "read. You can appeal against a deletion.\n"
    "- Rules of the vote change only for the future, and are announced before they count.\n"
    "- You can leave at any time.\n";

Slice text_at_first(TextKind kind)
{
    return slice_from(kind == TEXT_PRIVACY ? PRIVACY : TERMS);
}
