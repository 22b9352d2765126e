-- ledger.sql -- the peer's tables and its save: the effects of votes_save and of its projection, in one transaction.
--
-- As one would write it for speed: totals and daily changes of a policy stand in 16 parts, by voter, so that popular policies are no
-- single row that everybody waits for; free space in the pages keeps updates inside them (HOT). The tables are made and filled in
-- one transaction, with the keys added afterwards. Left out of what ours does: changes by hour and the history of a policy.
CREATE TABLE account (voter bigint NOT NULL, registered bigint NOT NULL, state smallint NOT NULL, denied integer NOT NULL);
CREATE TABLE policy (policy bigint NOT NULL, state smallint NOT NULL);
CREATE TABLE head (voter bigint NOT NULL, seq bigint NOT NULL, version uuid NOT NULL, time bigint NOT NULL,
                   held bigint NOT NULL, day integer NOT NULL, saves integer NOT NULL) WITH (fillfactor = 80);
CREATE TABLE line (voter bigint NOT NULL, policy bigint NOT NULL, held bigint NOT NULL, withdrawn_centi bigint NOT NULL,
                   seq bigint NOT NULL) WITH (fillfactor = 80);
CREATE TABLE log (voter bigint NOT NULL, seq bigint NOT NULL, version uuid NOT NULL, prev uuid, time bigint NOT NULL,
                  setting integer NOT NULL, changes bytea NOT NULL);
CREATE TABLE total (policy bigint NOT NULL, part smallint NOT NULL, total bigint NOT NULL) WITH (fillfactor = 50);
CREATE TABLE day_change (policy bigint NOT NULL, part smallint NOT NULL, day integer NOT NULL, change bigint NOT NULL)
    WITH (fillfactor = 50);

-- One policy's total and its change of the day. The row of the day is there but for the first save of a day.
CREATE FUNCTION count_change(which bigint, its_part smallint, today integer, change_by bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE total SET total = total + change_by WHERE policy = which AND part = its_part;
    IF NOT FOUND THEN
        INSERT INTO total VALUES (which, its_part, change_by)
            ON CONFLICT (policy, part) DO UPDATE SET total = total.total + change_by;
    END IF;
    UPDATE day_change SET change = change + change_by WHERE policy = which AND part = its_part AND day = today;
    IF NOT FOUND THEN
        INSERT INTO day_change VALUES (which, its_part, today, change_by)
            ON CONFLICT (policy, part, day) DO UPDATE SET change = day_change.change + change_by;
    END IF;
END $$;

-- One save is one transaction and one round trip: the account may vote, the version is the one that was seen, the policies are
-- active, salary covers what is held and paid; then head, lines, log, totals and daily changes. policy2 is 0 when one line changes,
-- and larger than policy1 otherwise, so that no two saves wait for each other in a circle. 1: saved, 0: not.
CREATE FUNCTION save(who bigint, seen uuid, policy1 bigint, held1 bigint, policy2 bigint, held2 bigint, new_version uuid,
                     now_us bigint, new_changes bytea) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    registered_us bigint;
    was head;
    cost bigint;
    old1 bigint;
    old2 bigint;
    active integer;
    today integer := now_us / 86400000000;
    its_part smallint := who % 16;
BEGIN
    SELECT registered INTO registered_us FROM account WHERE voter = who AND state = 1 AND denied & 2 = 0;
    SELECT * INTO was FROM head WHERE voter = who;
    IF registered_us IS NULL OR was.version <> seen OR (was.day = today AND was.saves >= 500) THEN
        RETURN 0;
    END IF;
    SELECT count(*) INTO active FROM policy WHERE policy IN (policy1, policy2) AND state = 1;
    SELECT sum(held + (withdrawn_centi + 99) / 100), coalesce(sum(held) FILTER (WHERE policy = policy1), 0),
           coalesce(sum(held) FILTER (WHERE policy = policy2), 0) INTO cost, old1, old2 FROM line WHERE voter = who;
    cost := cost + greatest(held1 - old1, (old1 - held1) / -2) + greatest(held2 - old2, (old2 - held2) / -2);
    IF active < 1 + (policy2 > 0)::integer OR cost > 100 * ((now_us - registered_us) / 604800000000 + 1) THEN
        RETURN 0;
    END IF;
    UPDATE head SET seq = was.seq + 1, version = new_version, time = greatest(now_us, was.time + 1),
                    held = was.held + held1 - old1 + held2 - old2, day = today,
                    saves = CASE was.day WHEN today THEN was.saves + 1 ELSE 1 END
        WHERE voter = who AND version = seen;
    IF NOT FOUND THEN
        RETURN 0;
    END IF;
    UPDATE line SET held = held1, withdrawn_centi = withdrawn_centi + 50 * greatest(old1 - held1, 0), seq = was.seq + 1
        WHERE voter = who AND policy = policy1;
    IF policy2 > 0 THEN
        UPDATE line SET held = held2, withdrawn_centi = withdrawn_centi + 50 * greatest(old2 - held2, 0), seq = was.seq + 1
            WHERE voter = who AND policy = policy2;
    END IF;
    INSERT INTO log VALUES (who, was.seq + 1, new_version, seen, now_us, 0, new_changes);
    PERFORM count_change(policy1, its_part, today, held1 - old1);
    IF policy2 > 0 THEN
        PERFORM count_change(policy2, its_part, today, held2 - old2);
    END IF;
    RETURN 1;
END $$;
