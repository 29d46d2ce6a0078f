-- Groups of users. A member has the role of the group and its roles. User names are those of accounts or of users of the
-- identity provider, who need not exist yet.
CREATE TABLE IF NOT EXISTS user_groups (
  id          text PRIMARY KEY CHECK (id ~ '^[a-z0-9_]{1,128}$'),
  name        text NOT NULL,
  description text NOT NULL DEFAULT '',
  roles       text[] NOT NULL DEFAULT '{}'
);
CREATE TABLE IF NOT EXISTS user_group_members (
  group_id text NOT NULL REFERENCES user_groups ON DELETE CASCADE,
  username text NOT NULL,
  PRIMARY KEY (group_id, username)
);
-- Each request of a signed-in user reads the groups of this user.
CREATE INDEX IF NOT EXISTS user_group_members_username ON user_group_members (username);

-- The group of service accounts. Its role includes its roles, as if it were granted to an account.
INSERT INTO user_groups (id, name, description)
VALUES ('mh_default_org_external_applications', 'External Applications', 'Service accounts of other programs')
ON CONFLICT DO NOTHING;
