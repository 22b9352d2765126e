/* store_commands.c -- backups, the store's health, and maintenance mode. */
#include "cli/ledger_commands.h"
#include "cli/open.h"
#include "cli/site_facts.h"
#include "operations/store_state.h"
#include "store/rocksdb/rocksdb.h"

/* ---- The store ------------------------------------------------------------------------------------------- */

int run_backup(Context *context)
{
    Reason reason = {0};
    bool is_noted = true;
    BackupOf of = {context->store, context->audit};
    const char *directory = command_path(context, context->parsed.operands[0]);
    AuditAct act = {.kind = AUDIT_BACKUP, .reason = SLICE_EMPTY, .details = slice_from(directory)};
    Status status = store_make_backup(&of, &COMMAND_OPERATOR, &act, directory, &is_noted, &reason);
    if (!is_noted)
        context->output.write(context->output.self, 2,
                              SLICE("ostraka: the log of acts takes no note of this backup\n"));
    if (status != STATUS_OK)
        return command_fail(context, status, &reason);
    if (context->parsed.json) {
        BUFFER_SCOPE Buffer out = {0};
        JsonWriter json = json_writer(&out);
        json_object_begin(&json);
        json_member_text(&json, "backup", directory);
        json_member_text(&json, "key_file", open_key_path(context->config, context->arena));
        json_object_end(&json);
        command_print(context, "%.*s\n", SLICE_ARG(buffer_slice(&out)));
    } else {
        command_print(context,
                      "backed up to %s\nThe key %s is not in it: keep a copy elsewhere, without it "
                      "nobody can log in.\n",
                      directory, open_key_path(context->config, context->arena));
    }
    return EXIT_DONE;
}

/* Which key the restored data needs, by its own word. */
static Status needed_key(Context *context, Slice *ret_id, Reason *reason)
{
    Store *store;
    TRY(open_store(context->config, context->world, &(OpenHow){0}, &store, reason));
    Status status = site_key(store, context->arena, ret_id);
    store_close(store);
    return status;
}

int run_restore(Context *context)
{
    Reason reason = {0};
    const char *backup = command_path(context, context->parsed.operands[0]),
               *directory = context->config->data;
    Status status = STATUS_INVALID;
    if (open_is_embedded(context->config))
        status = store_rocksdb_restore(backup, directory, context->world.disk, &reason);
    else
        (void)reason_set(&reason, status, "store",
                         "a cluster is restored by its own means, from the snapshots of its nodes");
    if (status != STATUS_OK)
        return command_fail(context, status, &reason);
    command_print(context, "restored %s into %s\n", backup, directory);
    Slice key;
    status = needed_key(context, &key, &reason);
    if (status != STATUS_OK)
        return command_fail(context, status, &reason);
    if (key.data != NULL)
        command_print(context, "It needs key %.*s as %s (mode 600), which no backup has.\n",
                      SLICE_ARG(key), open_key_path(context->config, context->arena));
    return EXIT_DONE;
}

int run_health(Context *context)
{
    StoreHealth health;
    store_health(context->store, &health);
    if (context->parsed.json) {
        BUFFER_SCOPE Buffer out = {0};
        JsonWriter json = json_writer(&out);
        json_object_begin(&json);
        json_member_text(&json, "engine", health.engine);
        json_member_bool(&json, "writable", health.writable);
        if (!health.writable)
            json_member_text(&json, "reason", health.reason);
        json_object_end(&json);
        command_print(context, "%.*s\n", SLICE_ARG(buffer_slice(&out)));
        return health.writable ? EXIT_DONE : EXIT_FAILED;
    }
    Reason reason;
    if (!health.writable)
        return command_fail(context,
                            reason_set(&reason, STATUS_UNAVAILABLE, "",
                                       "the store is read-only: %s", health.reason),
                            &reason);
    command_print(context, "ok: %s takes writes\n", health.engine);
    return EXIT_DONE;
}

int run_reopen(Context *context)
{
    Reason reason = {0};
    Status status = store_reopen(context->store, &reason);
    if (status != STATUS_OK)
        return command_fail(context, status, &reason);
    command_print(context, "the store takes writes\n");
    return EXIT_DONE;
}

/* ---- Maintenance ----------------------------------------------------------------------------------------- */

int run_maintenance(Context *context)
{
    Slice message;
    Status status = site_maintenance(context->store, context->arena, &message);
    if (status != STATUS_OK)
        return command_fail(context, status, NULL);
    if (message.data == NULL)
        command_print(context, "maintenance is off\n");
    else
        command_print(context, "maintenance is on: %.*s\n", SLICE_ARG(message));
    return EXIT_DONE;
}
