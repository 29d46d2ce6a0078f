-- A direct upload is a draft whose files have separate upload URLs.
ALTER TABLE drafts
  -- No files are accepted and no event is created after this time; the row stays until expires_at. Null: the same time.
  ADD COLUMN IF NOT EXISTS closes_at timestamptz,
  -- The reason why no event could be created.
  ADD COLUMN IF NOT EXISTS failure   text,
  -- The author of the event, its form fields and the API version of the request.
  ADD COLUMN IF NOT EXISTS request   jsonb;
DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = 'drafts'::regclass AND conname = 'drafts_outcome') THEN
    ALTER TABLE drafts ADD CONSTRAINT drafts_outcome CHECK (event_id IS NULL OR failure IS NULL);
    ALTER TABLE drafts ADD CONSTRAINT drafts_direct
      CHECK (door <> 'direct' OR closes_at IS NOT NULL AND request IS NOT NULL);
  END IF;
END $$;
CREATE INDEX IF NOT EXISTS drafts_open ON drafts (door, closes_at) WHERE event_id IS NULL AND failure IS NULL;

-- The files that a draft awaits, each with its own URL.
CREATE TABLE IF NOT EXISTS draft_uploads (
  draft_id     text NOT NULL REFERENCES drafts ON DELETE CASCADE,
  position     integer NOT NULL CHECK (position >= 0),
  -- SHA-256 of the last part of the URL, which is a secret.
  token_sha256 text NOT NULL UNIQUE CHECK (token_sha256 ~ '^[0-9a-f]{64}$'),
  -- The form field that requested the file, if any.
  field        text,
  flavor       text NOT NULL CHECK (flavor ~ '^[^/]+/[^/]+$'),
  -- The upload of the file; no such row exists before the first request.
  upload_id    text NOT NULL UNIQUE CHECK (length(upload_id) BETWEEN 16 AND 64),
  -- Stored when an event gets the file, because its upload expires.
  filename     text,
  bytes        bigint CHECK (bytes >= 0),
  PRIMARY KEY (draft_id, position)
);

DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_class WHERE oid = to_regclass('direct_uploads') AND relkind = 'r') THEN
    ALTER TABLE direct_uploads RENAME TO moved_direct_uploads;
    ALTER TABLE direct_upload_files RENAME TO moved_direct_upload_files;
  END IF;
END $$;

-- The former tables as views, for processes of the previous version during an upgrade. A later migration drops them.
CREATE OR REPLACE VIEW direct_uploads AS
  SELECT id, owner AS account, (request -> 'author') - 'roles' AS principal,
    CASE WHEN request -> 'author' ? 'roles' THEN
      ARRAY(SELECT jsonb_array_elements_text(request -> 'author' -> 'roles')) END AS roles,
    request ->> 'requestId' AS request_id, request -> 'fields' AS fields, request ->> 'version' AS version,
    (request ->> 'maxBytes')::bigint AS max_bytes, created_at, closes_at AS expires_at, event_id, failure
  FROM drafts WHERE door = 'direct';
CREATE OR REPLACE VIEW direct_upload_files AS
  SELECT draft_id AS direct_upload_id, position, token_sha256, field, flavor, upload_id, filename, bytes FROM draft_uploads;

CREATE OR REPLACE FUNCTION insert_direct_upload() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO drafts (id, door, owner, request, created_at, closes_at, expires_at, event_id, failure) VALUES
    (NEW.id, 'direct', NEW.account,
      jsonb_build_object('author', NEW.principal || jsonb_strip_nulls(jsonb_build_object('roles', NEW.roles)),
        'requestId', NEW.request_id, 'fields', NEW.fields, 'version', NEW.version, 'maxBytes', NEW.max_bytes),
      coalesce(NEW.created_at, now()), NEW.expires_at, NEW.expires_at + interval '7 days', NEW.event_id, NEW.failure);
  RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER direct_upload_inserted INSTEAD OF INSERT ON direct_uploads
  FOR EACH ROW EXECUTE FUNCTION insert_direct_upload();

DO $$
BEGIN
  IF to_regclass('moved_direct_uploads') IS NOT NULL THEN
    INSERT INTO direct_uploads (id, account, principal, roles, request_id, fields, version, max_bytes, created_at, expires_at,
        event_id, failure)
      SELECT id, account, principal, roles, request_id, fields, version, max_bytes, created_at, expires_at, event_id, failure
      FROM moved_direct_uploads WHERE id NOT IN (SELECT id FROM drafts);
    INSERT INTO draft_uploads (draft_id, position, token_sha256, field, flavor, upload_id, filename, bytes)
      SELECT direct_upload_id, position, token_sha256, field, flavor, upload_id, filename, bytes
      FROM moved_direct_upload_files WHERE direct_upload_id IN (SELECT id FROM direct_uploads);
    DROP TABLE moved_direct_upload_files, moved_direct_uploads;
  END IF;
END $$;
