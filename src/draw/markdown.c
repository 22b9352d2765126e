/* markdown.c -- see markdown.h. The tree that cmark parses is changed before it is rendered; links are written by us. */
#include "draw/markdown.h"

#include <stdlib.h>

#include <cmark.h>

enum { HEADING_LOWERED = 2, HEADING_LOWEST = 6 };

static void lower_heading(cmark_node *node)
{
    int level = cmark_node_get_heading_level(node) + HEADING_LOWERED;
    cmark_node_set_heading_level(node, level > HEADING_LOWEST ? HEADING_LOWEST : level);
}

/* cmark writes custom nodes as they are: a link becomes our own tags around the same children. */
static void own_link(cmark_node *node)
{
    BUFFER_SCOPE Buffer tag = {0};
    const char *url = cmark_node_get_url(node);
    HTML(&tag, "<a href=\"");
    html_url(&tag, slice_from(url != NULL ? url : ""));
    HTML(&tag, "\" rel=\"nofollow ugc noopener\">");
    buffer_u8(&tag, 0);
    cmark_node *own = cmark_node_new(CMARK_NODE_CUSTOM_INLINE);
    cmark_node_set_on_enter(own, tag.data);
    cmark_node_set_on_exit(own, "</a>");
    for (cmark_node *child; (child = cmark_node_first_child(node)) != NULL;)
        CHECK(cmark_node_append_child(own, child) == 1);
    CHECK(cmark_node_replace(node, own) == 1);
    cmark_node_free(node);
}

Markup markdown_html(Slice text, Arena *arena)
{
    cmark_node *document = cmark_parse_document(text.data, text.size, CMARK_OPT_DEFAULT);
    CHECK(document != NULL);
    cmark_iter *iter = cmark_iter_new(document);
    for (cmark_event_type event; (event = cmark_iter_next(iter)) != CMARK_EVENT_DONE;) {
        cmark_node *node = cmark_iter_get_node(iter);
        cmark_node_type type = cmark_node_get_type(node);
        if (event == CMARK_EVENT_ENTER && type == CMARK_NODE_HEADING)
            lower_heading(node);
        else if (event == CMARK_EVENT_EXIT && (type == CMARK_NODE_LINK || type == CMARK_NODE_IMAGE))
            own_link(node);
    }
    cmark_iter_free(iter);
    char *html = cmark_render_html(document, CMARK_OPT_DEFAULT);
    Markup result = {arena_copy(arena, slice_from(html))};
    free(html);
    cmark_node_free(document);
    return result;
}

/* Text, code and line ends in order; everything else is markup. */
static void gather(cmark_node *document, size_t most, Buffer *words)
{
    cmark_iter *iter = cmark_iter_new(document);
    cmark_event_type event;
    while ((event = cmark_iter_next(iter)) != CMARK_EVENT_DONE && words->size <= most) {
        cmark_node *node = cmark_iter_get_node(iter);
        const char *literal = cmark_node_get_literal(node);
        cmark_node_type type = cmark_node_get_type(node);
        if (event == CMARK_EVENT_ENTER && (type == CMARK_NODE_TEXT || type == CMARK_NODE_CODE))
            buffer_text(words, literal != NULL ? literal : "");
        else if (type == CMARK_NODE_SOFTBREAK || type == CMARK_NODE_LINEBREAK ||
                 (event == CMARK_EVENT_EXIT && type >= CMARK_NODE_FIRST_BLOCK &&
                  type <= CMARK_NODE_LAST_BLOCK))
            buffer_u8(words, ' ');
    }
    cmark_iter_free(iter);
}

Slice text_cut(Slice text, size_t most, Arena *arena)
{
    size_t end = most - 3, space;
    if (text.size <= most)
        return arena_copy(arena, text);
    for (space = end; space > end / 2 && text.data[space] != ' '; space--)
        ;
    if (text.data[space] == ' ')
        end = space;
    while (end > 0 && ((unsigned char)text.data[end] & 0xC0) == 0x80)
        end--;
    return arena_print(arena, "%.*s\u2026", (int)end, text.data);
}

Slice markdown_words(Slice text, size_t most, Arena *arena)
{
    BUFFER_SCOPE Buffer words = {0};
    cmark_node *document = cmark_parse_document(text.data, text.size, CMARK_OPT_DEFAULT);
    CHECK(document != NULL);
    gather(document, most * 2, &words);
    cmark_node_free(document);
    return text_cut(slice_trim(buffer_slice(&words)), most, arena);
}
