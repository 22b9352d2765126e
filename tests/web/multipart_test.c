/* multipart_test.c -- forms with files, as browsers send them and as they do not. */
#include "web/multipart.h"

#include "base/bytes.h"
#include "test.h"

#define TYPE                "multipart/form-data; boundary=XyZ"
#define PART(head, content) "--XyZ\r\n" head "\r\n\r\n" content "\r\n"
#define NAMED(name)         "Content-Disposition: form-data; name=\"" name "\""

static Arena *arena;
static Reason reason;

static Status form_of(const char *type, const char *body, Slice *ret_form)
{
    reason = (Reason){0};
    return multipart_form(slice_from(type), slice_from(body), arena, ret_form, &reason);
}

static void expect_form(const char *body, const char *expected)
{
    Slice form = SLICE_EMPTY;
    EXPECT_STATUS(form_of(TYPE, body, &form), STATUS_OK);
    EXPECT_SLICE(form, slice_from(expected));
}

static void expect_refused(const char *type, const char *body, const char *field)
{
    Slice form;
    EXPECT_STATUS(form_of(type, body, &form), STATUS_INVALID);
    EXPECT_SLICE(slice_from(reason.field), slice_from(field));
    EXPECT(reason.rule[0] != '\0');
}

TEST(fields_and_a_file_become_pairs_in_their_order)
{
    arena = arena_new();
    expect_form(PART(NAMED("csrf"), "abc")
                    PART(NAMED("file") "; filename=\"roll.csv\"\r\nContent-Type: text/csv",
                         "email\r\na@example.org\r\n") PART(NAMED("act"), "add") "--XyZ--\r\n",
                "csrf=abc&file=email\r\na@example.org\r\n&act=add");
    arena_free(arena);
}

TEST(what_means_something_in_a_form_is_encoded)
{
    arena = arena_new();
    expect_form(PART(NAMED("a&b"), "1+1=2 & 100%") "--XyZ--", "a%26b=1%2B1%3D2 %26 100%25");
    arena_free(arena);
}

TEST(a_file_that_nobody_chose_is_left_out_and_an_empty_field_is_not)
{
    arena = arena_new();
    expect_form(PART(NAMED("lines"), "") PART(NAMED("file") "; filename=\"\"", "") "--XyZ--",
                "lines=");
    arena_free(arena);
}

TEST(dashes_and_half_a_boundary_are_content)
{
    arena = arena_new();
    expect_form(PART(NAMED("a"), "--\r\n--Xy\r\n--\r\n") "--XyZ--", "a=--\r\n--Xy\r\n--\r\n");
    arena_free(arena);
}

TEST(heads_are_read_without_case_and_names_without_quotes)
{
    Slice form = SLICE_EMPTY;
    arena = arena_new();
    EXPECT(multipart_is(SLICE("Multipart/Form-Data; boundary=x")));
    EXPECT(!multipart_is(SLICE("multipart/mixed; boundary=x")));
    EXPECT_STATUS(
        form_of("multipart/form-data; charset=utf-8; BOUNDARY=\"a b\"",
                "--a b\r\nX: y\r\ncontent-disposition:form-data;name=a\r\n\r\n1\r\n--a b--", &form),
        STATUS_OK);
    EXPECT_SLICE(form, SLICE("a=1"));
    arena_free(arena);
}

TEST(what_is_broken_names_what_is_wrong)
{
    arena = arena_new();
    expect_refused("multipart/form-data", "--XyZ--", "Content-Type");
    expect_refused("multipart/form-data; boundary=", "--\r\n", "Content-Type");
    expect_refused("multipart/form-data; boundary=\"x", "--x--", "Content-Type");
    expect_refused(TYPE, "", "body");
    expect_refused(TYPE, "--Other--", "body");
    expect_refused(TYPE, "--XyZ", "body");
    expect_refused(TYPE, "--XyZ\r\n" NAMED("a"), "body");
    expect_refused(TYPE, "--XyZ\r\n" NAMED("a") "\r\n\r\ncut off", "body");
    expect_refused(TYPE, PART("Content-Disposition: form-data", "1") "--XyZ--", "body");
    expect_refused(TYPE, PART("Content-Disposition: form-data; filename=\"x\"", "1") "--XyZ--",
                   "body");
    expect_refused(TYPE, PART(NAMED("a"), "1") "--XyZ and more", "body");
    expect_refused(TYPE, PART(NAMED("a"), "\xe9") "--XyZ--", "body");
    expect_refused(TYPE, PART(NAMED("a") "; filename=\"x\"", "J\xe9r") "--XyZ--", "file");
    arena_free(arena);
}

TEST(there_is_an_end_to_parts_and_heads)
{
    BUFFER_SCOPE Buffer many = {0};
    BUFFER_SCOPE Buffer wide = {0};
    Slice form = SLICE_EMPTY;
    arena = arena_new();
    for (int i = 0; i < MULTIPART_PARTS; i++)
        buffer_text(&many, PART(NAMED("a"), ""));
    buffer_text(&many, "--XyZ--");
    buffer_u8(&many, 0);
    EXPECT_STATUS(form_of(TYPE, many.data, &form), STATUS_OK);
    many.size -= 8;
    buffer_text(&many, PART(NAMED("a"), "") "--XyZ--");
    buffer_u8(&many, 0);
    expect_refused(TYPE, many.data, "body");
    buffer_text(&wide, "--XyZ\r\nX: ");
    for (int i = 0; i < MULTIPART_HEAD; i++)
        buffer_text(&wide, "x");
    buffer_text(&wide, "\r\n" NAMED("a") "\r\n\r\n1\r\n--XyZ--");
    buffer_u8(&wide, 0);
    expect_refused(TYPE, wide.data, "body");
    arena_free(arena);
}
