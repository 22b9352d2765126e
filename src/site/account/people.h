/* people.h -- the pages where people come in and keep their account: what they show. What they do is in operations/. */
#pragma once

#include "electorate/electorate.h"
#include "operations/own_access.h"
#include "site/forms.h"

/* A form about the viewer's own account, or a visitor's. */
typedef struct OwnForm {
    Form form;
    Slice name, email;      /* of the viewer */
    Slice invitation, next; /* what goes along to another site */
    Electorate electorate;  /* on the form to join: who may */
    bool gone;              /* the session that this browser had has ended */
    bool is_demo;
    bool can_mail;
    const Account *me; /* the viewer, where a form asks for what opens their account */
    const Oidc *oidc;  /* other sites to log in by, or NULL */
    Slice provider;    /* what the one is called that vouches for who registers */
} OwnForm;

typedef struct SessionsPage {
    Form form;
    SessionList list;
    Id own; /* the one that asks */
    Login *logins;
    size_t login_count;
    int64_t now_us;
    Arena *arena;
} SessionsPage;

typedef struct TokensPage {
    Form form; /* its answer is a token that was just made, whose secret is shown once */
    TokenList list;
    const Account *me;
    int64_t now_us;
    Arena *arena;
} TokensPage;

typedef struct SecondPage {
    Form form; /* its answer are recovery codes, shown once */
    SecondView second;
    const Account *me;
    bool has_picture;
    Markup picture;
    int64_t now_us;
} SecondPage;

typedef struct LinkedPage {
    Form form;
    LinkedList list;
    const Account *me;
    const Oidc *oidc;
    int64_t now_us;
    Arena *arena;
} LinkedPage;

typedef struct LettersView {
    struct MailEntry *letters;
    size_t count;
    int64_t now_us;
    Arena *arena;
} LettersView;

/* The text of an e-mail with its lines kept, and addresses of this site as links. */
Markup letter_links(Slice text, Arena *arena);

/* FormPage.fill of a form that leads to another site, and was done (login.c). */
MUST_USE Status people_fill_leave(WebRequest *request, void *view, Frame *frame);
