-- The role that stands for a user tells every name from every other: a character that is no ASCII letter, digit or _ is
-- written as its code point, where it was _ for all of them. What was granted to accounts goes with their roles. Done once,
-- with the table below: afterwards the same roles may be those of others.
DO $$
BEGIN
  IF to_regclass('token_users') IS NOT NULL THEN RETURN; END IF;
  CREATE TEMPORARY TABLE renamed ON COMMIT DROP AS
    SELECT 'ROLE_USER_' || upper(regexp_replace(
             -- Those beyond the first 65,536 were two.
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

-- Which user of the identity provider has a role: of names that differ in case alone, the first that came.
CREATE TABLE IF NOT EXISTS token_users (
  role     text PRIMARY KEY,
  username text NOT NULL
);
