-- site.sql -- what an endpoint needs beside ledger.sql: sessions, and a vote that comes with one. One transaction, one round trip.
--
-- A session's key is the hash of the cookie's secret, so that who reads the table cannot use it, as ours.
CREATE TABLE session (key bytea NOT NULL, voter bigint NOT NULL, begun bigint NOT NULL, seen bigint NOT NULL, ended boolean NOT NULL);
INSERT INTO session SELECT sha256(convert_to('voter-' || voter, 'UTF8')), voter, now_us, now_us, false
    FROM account, (SELECT (extract(epoch FROM now()) * 1000000)::bigint AS now_us) AS clock;
ALTER TABLE session ADD PRIMARY KEY (key);

-- 1: saved, 0: not, 2: nobody is logged in.
CREATE FUNCTION vote(secret bytea, seen_version uuid, policy1 bigint, held1 bigint, new_version uuid, now_us bigint, new_changes bytea)
    RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    who bigint;
BEGIN
    SELECT voter INTO who FROM session
        WHERE key = secret AND NOT ended AND now_us - begun < 5184000000000 AND now_us - seen < 1209600000000;
    IF who IS NULL THEN
        RETURN 2;
    END IF;
    RETURN save(who, seen_version, policy1, held1, 0, 0, new_version, now_us, new_changes);
END $$;
