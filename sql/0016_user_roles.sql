-- Makes the role of a user unique: a character other than an ASCII letter, digit or _ is written as its code point; it was _
-- before. Renames the roles of accounts wherever they were granted. Runs only once, before the table below exists, because
-- afterwards the old names may be roles of other users.
DO $$
BEGIN
  IF to_regclass('token_users') IS NOT NULL THEN RETURN; END IF;
  CREATE TEMPORARY TABLE renamed ON COMMIT DROP AS
    SELECT 'ROLE_USER_' || upper(regexp_replace(
             -- Characters above U+FFFF were written as two.
             regexp_replace(username, '[\U00010000-\U0010FFFF]', '__', 'g') COLLATE "C", '[^a-zA-Z0-9]', '_', 'g')) AS old,
           CASE WHEN length(role) <= 255 THEN role
             ELSE left(role, 190) || '.' || encode(sha256(convert_to(username, 'UTF8')), 'hex') END AS new
    FROM accounts,
      LATERAL (SELECT 'ROLE_USER_' || string_agg(CASE WHEN letter COLLATE "C" ~ '[A-Za-z0-9_]' THEN letter
                 ELSE '~' || upper(to_hex(ascii(letter))) || '~' END, '' ORDER BY position) AS role
               FROM regexp_split_to_table(username, '') WITH ORDINALITY AS letters (letter, position)) AS written
    WHERE username COLLATE "C" ~ '[^a-zA-Z0-9_]';
  UPDATE event_acl SET role = new FROM renamed WHERE role = old;
  UPDATE series_acl SET role = new FROM renamed WHERE role = old;
  UPDATE accounts SET roles = (
    SELECT array_agg(coalesce((SELECT new FROM renamed WHERE old = role LIMIT 1), role) ORDER BY position)
    FROM unnest(roles) WITH ORDINALITY AS granted (role, position))
  WHERE roles && (SELECT coalesce(array_agg(old), '{}') FROM renamed);
END $$;

-- The users of the identity provider by role. Of names that differ only in case, the first user gets the role.
CREATE TABLE IF NOT EXISTS token_users (
  role     text PRIMARY KEY,
  username text NOT NULL
);
