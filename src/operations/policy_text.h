/* policy_text.h -- the text of a policy as requests give it: for editing a policy and for creating one. */
#pragma once

#include "operations/operation.h"

/* What was not given stays as it is. */
typedef struct PolicyWords {
    Slice name, description, rationale;
    InputTexts links;
    uint64_t category, party; /* party 0: none */
    bool has_name, has_description, has_rationale, has_links, has_category, has_party;
} PolicyWords;

/* Replaces what the words give. */
void policy_words_apply(const PolicyWords *words, PolicyText *text);
/* All that is wrong with a text, in the order of the form; for Operation.faults. */
size_t policy_text_faults(PolicyText text, Reason ret_reasons[OPERATION_FAULTS_MAX]);
/* One address on each line. */
Slice policy_links_text(const PolicyText *text, Arena *arena);

/* clang-format off */
#define POLICY_WORD_INPUTS(type, words, ...)                                                        \
    INPUT("name", type, words.name, LINE, .least = POLICY_NAME_LEAST, .most = POLICY_NAME_MAX, GIVEN(type, words.has_name), .help = "What it is called.", __VA_ARGS__), \
    INPUT("description", type, words.description, TEXT, .optional = true, .most = POLICY_TEXT_MAX, GIVEN(type, words.has_description), .help = "What it says, in Markdown."), \
    INPUT("rationale", type, words.rationale, TEXT, .optional = true, .most = POLICY_TEXT_MAX, GIVEN(type, words.has_rationale), .help = "Why, in Markdown."), \
    INPUT("links", type, words.links, TEXTS, .optional = true, .lines = true, .least = 1, .most = POLICY_LINK_MAX, .most_count = POLICY_LINKS_MAX, GIVEN(type, words.has_links), .flag = "link", .help = "Addresses to read on, http or https."), \
    INPUT("category", type, words.category, CATEGORY, GIVEN(type, words.has_category), .missing = "must be exactly one", .help = "Its category.", __VA_ARGS__), \
    INPUT("party", type, words.party, PARTY, .optional = true, .or_none = true, GIVEN(type, words.has_party), .help = "Its party; 0: none.")
/* clang-format on */
enum {
    POLICY_WORDS_BYTES = 1 << 20
}; /* of a body: the longest texts with every byte as %XX, and the rest */
