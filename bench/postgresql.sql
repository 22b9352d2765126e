-- postgresql.sql -- the peer's tables and its save, as one would write them for speed.
--
-- Free space in the pages of head and line keeps updates inside the page (HOT), so that no index is touched by them.
-- The tables are made and filled in one transaction, with the keys added afterwards: the fastest way to load.
CREATE TABLE head (voter bigint NOT NULL, seq bigint NOT NULL, version uuid NOT NULL, time bigint NOT NULL,
                   held bigint NOT NULL) WITH (fillfactor = 80);
CREATE TABLE line (voter bigint NOT NULL, policy bigint NOT NULL, held bigint NOT NULL, withdrawn bigint NOT NULL,
                   seq bigint NOT NULL) WITH (fillfactor = 80);
CREATE TABLE log (voter bigint NOT NULL, seq bigint NOT NULL, entry bytea NOT NULL);

-- One save is one transaction and one round trip: read head and lines, check that the head did not change, write the
-- head, two lines and the log entry. 1: saved, 0: somebody else was first.
CREATE FUNCTION save(who bigint, policy1 bigint, held1 bigint, policy2 bigint, held2 bigint, new_version uuid,
                     now_us bigint, new_entry bytea) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    was head;
    lines bigint;
    total bigint;
BEGIN
    SELECT * INTO was FROM head WHERE voter = who;
    SELECT count(*), sum(held) INTO lines, total FROM line WHERE voter = who;
    IF lines <> 11 THEN
        RAISE EXCEPTION 'voter % has % lines', who, lines;
    END IF;
    UPDATE head SET seq = was.seq + 1, version = new_version, time = now_us, held = total
        WHERE voter = who AND version = was.version;
    IF NOT FOUND THEN
        RETURN 0;
    END IF;
    UPDATE line SET held = CASE policy WHEN policy1 THEN held1 ELSE held2 END, seq = was.seq + 1
        WHERE voter = who AND policy IN (policy1, policy2);
    INSERT INTO log VALUES (who, was.seq + 1, new_entry);
    RETURN 1;
END $$;
