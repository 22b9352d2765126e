/* ledger_commands.h -- the commands on people, policies, votes and rankings; commands.c has their rows. */
#pragma once

#include "cli/command.h"

int run_user_add(Context *context);
int run_user_show(Context *context);
int run_user_list(Context *context);
int run_user_confirm(Context *context);
int run_user_rights(Context *context);
int run_user_second_off(Context *context);
int run_user_delete(Context *context);

int run_policy_create(Context *context);
int run_policy_show(Context *context);
int run_policy_list(Context *context);
int run_policy_edit(Context *context);
int run_policy_retire(Context *context);
int run_policy_merge(Context *context);
int run_policy_delete(Context *context);
int run_policy_appeal(Context *context);
int run_policy_answer(Context *context);
int run_category_list(Context *context);
int run_category_add(Context *context);
int run_party_list(Context *context);
int run_party_add(Context *context);
int run_party_set(Context *context);

int run_vote_save(Context *context);
int run_vote_cost(Context *context);
int run_vote_show(Context *context);
int run_vote_history(Context *context);
int run_setting_list(Context *context);
int run_setting_set(Context *context);

int run_task_list(Context *context);
int run_task_run(Context *context);
int run_verify(Context *context);

int run_audit_list(Context *context);

int run_report_list(Context *context);
int run_report_show(Context *context);
int run_report_take(Context *context);
int run_report_return(Context *context);
int run_report_dismiss(Context *context);
int run_report_act(Context *context);
int run_feature_list(Context *context);
int run_feature_set(Context *context);
int run_feature_remove(Context *context);

int run_mail_list(Context *context);
int run_mail_retry(Context *context);
int run_mail_test(Context *context);
int run_mail_bounce(Context *context);
int run_mail_allow(Context *context);
int run_mail_suppressed(Context *context);

int run_demo(Context *context);

int run_backup(Context *context);
int run_restore(Context *context);
int run_health(Context *context);
int run_reopen(Context *context);
int run_maintenance(Context *context);
int run_maintenance_on(Context *context);
int run_maintenance_off(Context *context);

int run_retention_list(Context *context);
int run_retention_set(Context *context);
int run_text_show(Context *context);
int run_text_write(Context *context);
int run_user_logout(Context *context);

int run_electorate_show(Context *context);
int run_electorate_set(Context *context);
int run_invite(Context *context);
int run_invite_import(Context *context);
int run_invite_list(Context *context);
int run_invite_withdraw(Context *context);
int run_roll_import(Context *context);
int run_roll_remove(Context *context);
int run_roll_clear(Context *context);
int run_roll_count(Context *context);
int run_roll_check(Context *context);

int run_rank_top(Context *context);
int run_rank_show(Context *context);
int run_rank_history(Context *context);
