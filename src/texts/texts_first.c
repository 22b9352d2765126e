/* texts_first.c -- the texts that a site has until somebody writes its own: what this software keeps, in plain words. */
#include "texts/texts.h"

static const char PRIVACY[] =
    "This page says what the software that runs this site keeps about you, and for how long. Those "
    "who run the site can change it; who they are, and how to "
    "reach them, they must add themselves.\n\n"
    "## What is kept\n\n"
    "- **Your account**: the name that everybody sees, your e-mail address, a hash of your "
    "password, when you joined. Your e-mail address and your real name, "
    "if you gave one, are encrypted with a key that is not in the database, and are shown to "
    "nobody else but those who manage accounts.\n"
    "- **Your votes**: what you hold on which policy, and when you changed it. You alone see it. "
    "Nobody who runs the site is shown it; everybody sees the totals "
    "only. An entry of the ledger never changes, so that totals can be recomputed.\n"
    "- **Where you are logged in**: when, from which network address and with which program, "
    "encrypted. You see it under *Where you are logged in*. Those who "
    "manage accounts see the times only.\n"
    "- **Log-ins, also those that failed**: the same, for 90 days unless those who run this site "
    "set another time.\n"
    "- **Signals of duplicate accounts**: what your registration has in common with others (the "
    "same mailbox, network address or browser), as hashes that "
    "cannot be turned back, for a year unless another time is set.\n"
    "- **Letters to you**: until they are sent; then for a week that one was sent, without its "
    "text. One that could not be sent stays for 30 days.\n"
    "- **What is done by those who run the site**: who did what, when, from where and why.\n\n"
    "## Cookies\n\n"
    "One says who you are while you are logged in, one ties a form to your browser. There are no "
    "others, and nothing is loaded from other sites.\n\n"
    "## What you can do\n\n"
    "- See and change what stands in your profile, end your sessions, have your tokens end.\n"
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
