/* audit_commands.c -- writing to the audit log what a hand-written command does. */
#include "cli/ledger_commands.h"

/* Its beginning, of whole characters. */
static Slice cut(Slice text, size_t most)
{
    size_t size = 0, next;
    while (size < text.size && (next = slice_utf8_length(slice_after(text, size))) > 0 &&
           size + next <= most)
        size += next;
    return slice_of(text.data, size);
}

Status command_audit_begin(Context *context, const AuditAct *act, Id *ret_id, Reason *reason)
{
    AuditAct full = *act;
    CHECK((context->parsed.command->note.acts >> act->kind & 1) != 0);
    if (context->audit == NULL)
        return reason_set(reason, STATUS_REFUSED, "",
                          "without the site's key it cannot be noted in the log of acts, so it was "
                          "not done");
    full.origin = SLICE("command line");
    full.details = cut(full.details, AUDIT_DETAILS_BYTES);
    Status status = audit_begin(context->audit, &full, ret_id);
    if (status == STATUS_INVALID)
        return reason_set(reason, status, "reason", "has at most %d bytes", AUDIT_REASON_BYTES);
    if (status == STATUS_UNAVAILABLE ||
        status == STATUS_UNKNOWN) /* of the note; nothing else was begun */
        return reason_set(reason, STATUS_UNAVAILABLE, "",
                          "it could not be noted in the log of acts, so it was not done");
    return status;
}

Status command_audit_end(Context *context, Id id, Status outcome)
{
    audit_end(context->audit, id, outcome);
    return outcome;
}
