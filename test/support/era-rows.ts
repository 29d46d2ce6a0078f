/**
 * Rows as they were written while a migration was the newest one, by its number: to see that later migrations keep
 * them. They fill what the migration has added.
 */
export const ERA_ROWS: Readonly<Record<string, string>> = {
  '0001': `
    INSERT INTO accounts (username, password_hash, name, email, roles, created_at) VALUES
      ('ada', 'scrypt$1$x', 'Ada L.', 'ada@example.org', '{ROLE_A,"ROLE B, C"}', '2024-01-01T10:00:00.123456Z'),
      ('bare', 'scrypt$2$y', DEFAULT, DEFAULT, DEFAULT, DEFAULT)`,
  '0002': `
    INSERT INTO series (id, title, creator, created_at) VALUES
      ('series-1', 'Mathematics ü "1"', 'ada', '2024-02-01T10:00:00Z'), ('series-2', '', '', DEFAULT);
    INSERT INTO series_acl (series_id, position, role, action, allow) VALUES
      ('series-1', 0, 'ROLE_READER', 'read', true), ('series-1', 1, 'ROLE_OTHER', 'write', false)`,
  '0003': `
    INSERT INTO events (id, title, description, subjects, language, rights_holder, license, presenters, contributors,
      location, source, publisher, series_id, start_date, created, duration, creator, archive_version,
      processing_state) VALUES
      ('event-1', 'Lecture', E'Two\\nlines', '{Maths,"Logic, formal"}', 'deu', 'University', 'CC-BY', '{"Ada L."}',
        '{"Grace H."}', 'Hall 1', 'Camera', 'Press', 'series-1', '2024-03-01T08:15:42.123Z', '2024-03-01T08:00:00Z',
        5400500, 'ada', 3, 'SUCCEEDED');
    INSERT INTO events (id, start_date, created, creator) VALUES
      ('event-2', '1999-12-31T23:59:59Z', '2024-03-01T08:00:00Z', 'bare');
    INSERT INTO event_acl (event_id, position, role, action, allow) VALUES
      ('event-1', 0, 'ROLE_READER', 'read', true), ('event-1', 1, 'ROLE_OTHER', 'read', false);
    INSERT INTO event_catalogs (event_id, flavor, fields) VALUES
      ('event-1', 'license/episode', '{"licensor": "Ada", "permits": ["a", "b"]}')`,
  '0004': `
    INSERT INTO tracks (id, event_id, position, flavor, filename, mediatype, object_key, size, sha256, duration,
      has_audio, has_video, streams) VALUES
      ('00000000-0000-4000-8000-000000000001', 'event-1', 0, 'presenter/source', 'lecture 1.mp4', 'video/mp4',
        'track/1', 50000000000, repeat('a1', 32), 5400500, true, true, '[{"codec": "h264"}]'),
      ('00000000-0000-4000-8000-000000000002', 'event-1', 1, 'captions/source', 'de.vtt', 'text/vtt', 'track/2', 0,
        repeat('b2', 32), NULL, NULL, NULL, NULL);
    INSERT INTO publications (id, event_id, channel, mediatype, published_at) VALUES
      ('00000000-0000-4000-8000-000000000003', 'event-1', 'engage-player', 'text/html', '2024-03-02T00:00:00Z');
    INSERT INTO publication_elements (id, event_id, publication_id, position, kind, flavor, filename, mediatype, tags,
      object_key, size, sha256, duration, has_audio, has_video, width, height, frame_rate, frame_count, bit_rate,
      properties) VALUES
      ('00000000-0000-4000-8000-000000000004', 'event-1', '00000000-0000-4000-8000-000000000003', 0, 'media',
        'presenter/delivery', 'lecture.mp4', 'video/mp4', '{a,b}', 'element/1', 1234, repeat('c3', 32), 5400500, true,
        true, 1280, 720, 29.97, 161838, 2500000, '{}'),
      ('00000000-0000-4000-8000-000000000005', 'event-2', NULL, 0, 'attachment', 'presenter/timeline', 'sheet.jpg',
        'image/jpeg', '{}', 'element/2', 99, repeat('d4', 32), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
        '{"columns": "10"}')`,
  '0005': `
    INSERT INTO workflows (event_id, definition, title, configuration, state, creator, request_id, created_at,
      finished_at) VALUES
      ('event-1', 'schedule-and-upload', 'Process', '{"straightToPublishing": "true"}', 'SUCCEEDED', 'ada', 'request-1',
        '2024-03-01T08:00:00Z', '2024-03-01T09:00:00Z'),
      ('event-2', 'publish', 'Publish', '{}', 'RUNNING', 'bare', 'request-2', '2024-03-01T08:00:00Z', NULL);
    INSERT INTO workflow_operations (workflow_id, position, operation, description, configuration, state, max_attempts,
      time_limit_ms, attempts, losses, not_before, delivered_at, deliveries, fencing_token, worker, heartbeat_at,
      progress, reason, log, started_at, finished_at) VALUES
      (1, 0, 'encode', 'Encode', '{"a": "b"}', 'succeeded', 9, 3600000, 2, 1, DEFAULT, '2024-03-01T08:00:01Z', 3, 4,
        'worker-1', NULL, 1, NULL, NULL, '2024-03-01T08:00:02Z', '2024-03-01T08:30:00Z'),
      (2, 0, 'inspect', '', '{}', 'running', 9, 3600000, 0, 0, DEFAULT, '2024-03-01T08:00:01Z', 1, 1, 'worker-2',
        '2024-03-01T08:00:05Z', 0.25, NULL, NULL, '2024-03-01T08:00:02Z', NULL),
      (2, 1, 'publish', '', '{}', 'waiting', 1, 60000, 0, 0, '2024-03-01T08:00:00Z', NULL, 0, 0, NULL, NULL, 0, NULL,
        NULL, NULL, NULL)`,
  '0006': `
    INSERT INTO staging (object_key, owner, expires_at, created_at) VALUES
      ('track/9', 'api-1', '2030-01-01T00:00:00Z', '2024-03-01T08:00:00Z'),
      ('element/9', NULL, '2030-01-01T00:00:00Z', '2024-03-01T08:00:00Z')`,
  '0007': `
    INSERT INTO events (id, title, start_date, created, creator, series_id) VALUES
      ('event-3', 'Inherits', '2024-04-01T08:00:00Z', '2024-04-01T08:00:00Z', 'ada', 'series-1'),
      ('event-4', 'Of a series that is gone', '2024-04-01T08:00:00Z', '2024-04-01T08:00:00Z', 'ada', 'series-9')`,
  '0008': `
    INSERT INTO series (id, title, description, subjects, language, rights_holder, license, organizers, contributors,
      publishers, creator, created, properties) VALUES
      ('series-3', 'Physics', 'About', '{P}', 'eng', 'University', 'CC-BY', '{"Ada L.",B}', '{C}', '{D}', 'ada',
        '2024-05-01T08:00:00Z', '{"theme": "1"}');
    INSERT INTO series_catalogs (series_id, flavor, fields) VALUES ('series-3', 'license/series', '{"licensor": "A"}')`,
  '0009': `
    INSERT INTO events (id, title, start_date, created, duration, creator, series_id) VALUES
      ('event-5', 'ÄÖÜ Straße', '2024-06-01T08:00:00Z', '2024-06-01T08:00:00Z', 1, 'ada', 'series-3')`,
  '0010': `
    INSERT INTO idempotency_keys (sender, key, attempt, fingerprint, status, headers, body, expires_at) VALUES
      ('sender', 'key-1', '00000000-0000-4000-8000-000000000006', 'print', 201, '{"Location": "/x"}', '{}',
        '2030-01-01T00:00:00Z'),
      ('sender', 'key-2', '00000000-0000-4000-8000-000000000007', NULL, NULL, NULL, NULL, '2030-01-01T00:00:00Z')`,
  '0011': `
    INSERT INTO tracks (id, event_id, position, flavor, filename, mediatype, object_key, size, sha256, tags) VALUES
      ('00000000-0000-4000-8000-000000000008', 'event-3', 0, 'captions/source', 'en.vtt', 'text/vtt', 'track/3', 10,
        repeat('e5', 32), '{lang:en,subtitle}')`,
  '0012': `
    INSERT INTO capture_agents (id, state, url, inputs, time_zone, configuration, seen_at, known_since) VALUES
      ('hall-1', 'idle', 'http://hall-1.example.org', '{camera,screen}', 'Europe/Berlin', '{"a": "b"}',
        '2024-07-01T08:00:00Z', '2024-07-01T00:00:00Z');
    BEGIN;
    INSERT INTO schedules (event_id, agent_id, start_date, end_date, gap_ms, allow_conflict, inputs, workflow,
      configuration, recording_state, changed_at) VALUES
      ('event-6', 'hall-1', '2030-01-07T08:00:00Z', '2030-01-07T09:00:00Z', 60000, false, '{camera}',
        'schedule-and-upload', '{"straightToPublishing": "true"}', '', '2024-07-01T08:00:00Z'),
      ('event-7', 'hall-1', '2030-01-07T08:30:00Z', '2030-01-07T10:00:00Z', 0, true, '{}', 'publish', '{}',
        'capture_error', '2024-07-01T08:00:00Z');
    INSERT INTO events (id, title, start_date, created, creator) VALUES
      ('event-6', 'Scheduled', '2030-01-07T08:00:00Z', '2024-07-01T08:00:00Z', 'ada'),
      ('event-7', 'Scheduled over it', '2030-01-07T08:30:00Z', '2024-07-01T08:00:00Z', 'ada');
    COMMIT`,
  '0013': `
    INSERT INTO drafts (id, door, owner, created_at, expires_at) VALUES
      ('draft-1', 'packages', 'ada', '2024-08-01T08:00:00Z', '2030-01-01T00:00:00Z');
    INSERT INTO draft_tracks (id, draft_id, position, flavor, tags, filename, mediatype, object_key, size, sha256) VALUES
      ('00000000-0000-4000-8000-000000000009', 'draft-1', 0, 'presenter/source', '{a}', 'lecture.mp4', 'video/mp4',
        'track/4', 10, repeat('f6', 32))`,
  '0014': `
    INSERT INTO sessions (digest, sign_in, username, seal, renew_at, expires_at, ends_at) VALUES
      (sha256('cookie'), '00000000-0000-4000-8000-000000000010', 'ada', sha256('seal'), '2030-01-01T00:00:00Z',
        '2030-01-01T00:00:00Z', '2030-01-01T00:00:00Z')`,
  '0015': `
    INSERT INTO workflow_operations (workflow_id, position, operation, state, max_attempts, time_limit_ms, deferrals) VALUES
      (2, 2, 'retract', 'waiting', 1, 60000, 4)`,
  '0016': `
    INSERT INTO token_users (role, username) VALUES ('ROLE_USER_GRACE', 'Grace')`,
  '0017': `
    INSERT INTO tracks (id, event_id, position, flavor, filename, mediatype, object_key, size, sha256, warnings) VALUES
      ('00000000-0000-4000-8000-000000000010', 'event-3', 1, 'presenter/source', 'cut.ts', 'video/mp2t', 'track/5', 10,
        repeat('f6', 32), '{"The file may be incomplete: it breaks off."}')`,
  '0018': `
    INSERT INTO uploads (id, owner, filename, flavor, metadata, length, object_key, handle, stored, rest_key, rest_bytes,
      writer, created_at, changed_at, expires_at, completed_at, mediatype, sha256, event_id) VALUES
      ('upload-unfinished-1', 'ada', 'lecture ü.mp4', 'presenter/source', 'filename bGVjdHVyZS5tcDQ=', 50000000000,
        'track/6', 'handle-1', 33554432, 'rest/1', 12345, 7, '2024-09-01T08:00:00Z', '2024-09-01T09:00:00Z',
        '2030-01-01T00:00:00Z', NULL, NULL, NULL, NULL),
      ('upload-of-no-length', 'bare', 'upload', NULL, DEFAULT, NULL, 'track/7', '', DEFAULT, NULL, DEFAULT, DEFAULT,
        '2024-09-01T08:00:00Z', '2024-09-01T08:00:00Z', '2030-01-01T00:00:00Z', NULL, NULL, NULL, NULL),
      ('upload-of-an-event', 'ada', 'board.mkv', NULL, DEFAULT, 10, 'track/8', 'handle-2', 10, NULL, DEFAULT, 2,
        '2024-09-01T08:00:00Z', '2024-09-01T08:00:00Z', '2030-01-01T00:00:00Z', '2024-09-01T08:30:00Z',
        'video/x-matroska', NULL, 'event-3');
    INSERT INTO upload_pieces (upload_id, number, receipt) VALUES
      ('upload-unfinished-1', 1, 'receipt-1'), ('upload-unfinished-1', 2, 'receipt-2');
    INSERT INTO tracks (id, event_id, position, flavor, filename, mediatype, object_key, size, sha256) VALUES
      ('00000000-0000-4000-8000-000000000011', 'event-3', 2, 'presentation/source', 'board.mkv', 'video/x-matroska',
        'track/8', 10, NULL);
    INSERT INTO draft_tracks (id, draft_id, position, flavor, tags, filename, mediatype, object_key, size, sha256) VALUES
      ('00000000-0000-4000-8000-000000000012', 'draft-1', 1, 'presenter/source', '{}', 'more.mp4', 'video/mp4', 'track/9',
        10, NULL)`,
  '0019': `
    INSERT INTO direct_uploads (id, account, principal, roles, request_id, fields, version, max_bytes, created_at,
      expires_at, event_id, failure) VALUES
      ('direct-1', 'ada', '{"username": "ada", "name": "Ada L.", "email": "", "provider": "inlet"}', NULL, 'request-1',
        '{"acl": "[]", "metadata": "[]", "processing": "{}"}', '1.11.0', 5000000000, '2025-02-01T08:00:00Z',
        '2030-01-01T00:00:00Z', NULL, NULL),
      ('direct-2', 'lms', '{"username": "anonymous", "name": "", "email": "", "provider": "inlet"}', '{ROLE_A,"B, C"}',
        'request-2', '{}', '1.0.0', 1, DEFAULT, '2025-02-02T08:00:00Z', 'event-1', NULL),
      ('direct-3', 'lms', '{}', '{}', 'request-3', '{}', '1.1.0', 1, DEFAULT, '2025-02-02T08:00:00Z', NULL, 'Gone.'),
      ('direct-open', 'admin', '{"username": "ada", "name": "Ada L.", "email": "", "provider": "inlet"}', '{ROLE_A}',
        'request-4', '{"acl": "[]", "processing": "{\\"workflow\\": \\"schedule-and-upload\\"}", "metadata":
        "[{\\"flavor\\": \\"dublincore/episode\\", \\"fields\\": [{\\"id\\": \\"title\\", \\"value\\": \\"Sent later\\"}]}]"}',
        '1.11.0', 100, DEFAULT, '2099-01-01T00:00:00Z', NULL, NULL),
      ('direct-finished', 'admin', '{}', NULL, 'request-5', '{}', '1.11.0', 100, DEFAULT, '2099-01-01T00:00:00Z',
        'event-1', NULL),
      ('direct-failed', 'admin', '{}', NULL, 'request-6', '{}', '1.11.0', 100, DEFAULT, '2099-01-01T00:00:00Z', NULL,
        'The account is gone.'),
      ('direct-expired', 'admin', '{}', NULL, 'request-7', '{}', '1.11.0', 100, DEFAULT, now() - interval '1 day', NULL, NULL);
    INSERT INTO direct_upload_files (direct_upload_id, position, token_sha256, field, flavor, upload_id, filename, bytes)
      VALUES
      ('direct-1', 0, repeat('e5', 32), 'presenter', 'presenter/source', 'upload-of-direct-1', NULL, NULL),
      ('direct-2', 0, repeat('f6', 32), NULL, 'captions/source', 'upload-of-direct-2', 'de.vtt', 7),
      ('direct-open', 0, encode(sha256('open'), 'hex'), NULL, 'presenter/source', 'upload-of-direct-4', NULL, NULL),
      ('direct-finished', 0, encode(sha256('finished'), 'hex'), NULL, 'presenter/source', 'upload-of-direct-5', 'a.mp4', 9),
      ('direct-failed', 0, encode(sha256('failed'), 'hex'), NULL, 'presenter/source', 'upload-of-direct-6', NULL, NULL),
      ('direct-expired', 0, encode(sha256('expired'), 'hex'), NULL, 'presenter/source', 'upload-of-direct-7', NULL, NULL);
    UPDATE uploads SET expires_by = '2030-01-02T00:00:00Z' WHERE owner = 'ada'`,
  '0020': `
    INSERT INTO draft_attachments (id, draft_id, flavor, tags, filename, mediatype, object_key, size, sha256) VALUES
      ('00000000-0000-4000-8000-000000000013', 'draft-1', 'presenter/player+preview', '{"a, b"}', 'cover ü.jpg',
        'image/jpeg', 'attachment/1', 10, repeat('a7', 32));
    INSERT INTO draft_catalogs (draft_id, id, flavor, filename, content) VALUES
      ('draft-1', '00000000-0000-4000-8000-000000000014', 'smil/cutting', 'cut.smil', '<smil/>');
    UPDATE drafts SET event_id = 'event-1', workflow_id = 7, changed_at = '2025-03-01T08:00:00Z' WHERE id = 'draft-1';
    INSERT INTO event_documents (event_id, flavor, filename, content) VALUES
      ('event-1', 'smil/cutting', 'cut.smil', '<smil/>');
    INSERT INTO attachments (id, event_id, flavor, filename, mediatype, tags, object_key, size, sha256) VALUES
      ('00000000-0000-4000-8000-000000000015', 'event-1', 'presenter/player+preview', 'cover.jpg', 'image/jpeg', '{}',
        'attachment/2', 0, repeat('b8', 32));
    INSERT INTO further_recordings (event_id, of_event, part) VALUES ('event-2', 'event-1', 2);
    UPDATE capture_agents SET state_since = '2025-03-01T08:00:00Z';
    UPDATE schedules SET recording_state_since = '2025-03-01T08:00:00Z'`,
  '0021': `
    INSERT INTO accounts (username, password_hash, roles) VALUES ('hall-1', 'scrypt$3$z', '{ROLE_CAPTURE_AGENT}');
    INSERT INTO agent_accounts (username, agent_id, md5, sha256) VALUES
      ('hall-1', 'Hall/1 ü', repeat('c9', 16), repeat('c9', 32)), ('bare', NULL, repeat('da', 16), repeat('da', 32))`,
  '0022': `
    INSERT INTO calendar_changes (agent_id) VALUES ('hall-1')`,
  '0025': `
    INSERT INTO changes (number, at, kind, event_id, series_id, agent_id, actor, read_roles, data) VALUES
      (1, '2025-06-01T08:00:00Z', 'event.created', 'event-1', NULL, NULL, 'ada', NULL, '{"bytes": 50000000000}'),
      (NULL, '2025-06-01T08:00:01Z', 'event.deleted', 'event-9', NULL, NULL, '', '{ROLE_A,"B, C"}', '{}');
    UPDATE changes_counter SET last = 1;
    INSERT INTO changes_readers (name, position) VALUES ('reader', 1)`,
  '0026': `
    UPDATE workflow_operations SET on_failure = false, condition = 'straightToPublishing && !flagForReview';
    INSERT INTO workflow_attempts (operation_id, outcome, times, worker, reason, started_at, ended_at) VALUES
      (1, 'deferred', 3, 'worker-1', 'The database does not answer.', '2024-03-01T08:00:02Z', '2024-03-01T08:10:00Z')`,
  '0027': `
    UPDATE tracks SET made_by = 'command subtitles.sh captions/source'`,
  '0028': `
    INSERT INTO webhooks (url, secret, filter, created_by, since, failures, last_error) VALUES
      ('https://lms.example.org/hook', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'kind:event', 'ada', 1, 2, 'No answer.');
    INSERT INTO webhook_deliveries (webhook_id, message_id, kind, body, order_key, state, attempts, ended_at) VALUES
      (1, 'msg_1_1', 'event.created', '{"type": "event.created"}', 'event event-1', 'parked', 31, '2025-06-04T08:00:00Z')`,
  '0029': `
    INSERT INTO worker_processes (name, host, pid, runtime, version, concurrency) VALUES
      ('worker-1', 'host', 42, 'Deno 2.9.6', '0.1.0', 2);
    INSERT INTO lane_settings (lane, paused, concurrency, changed_by) VALUES ('heavy', true, 3, 'ada')`,
  '0023': `
    UPDATE tracks SET kept_parts = '[{"begin": 1500}]'`,
  '0030': `
    INSERT INTO statistics_counts (period, start, measure, label, bucket, count, sum) VALUES
      ('hour', '2025-07-01T08:00:00Z', 'failure', 'The file is damaged: it breaks off after … seconds.', DEFAULT, 3, DEFAULT),
      ('day', '2025-07-01T00:00:00Z', 'waiting', DEFAULT, 42, 1000000, 4567890123456);
    INSERT INTO storage_sizes (hour, received, processed, unfinished) VALUES
      ('2025-07-01T08:00:00Z', 50000000000000, 60000000000000, 0);
    UPDATE workflow_operations SET ready_at = started_at`,
  '0035': `
    INSERT INTO capture_agents (id, forgotten) VALUES ('hall-0', true)`,
  '0036': `
    UPDATE events SET own_acl = true WHERE id = 'event-2'`,
  '0038': `
    -- As the version before writes it.
    INSERT INTO direct_uploads (id, account, principal, roles, request_id, fields, version, max_bytes, expires_at)
      SELECT 'direct-between', account, principal, roles, 'request-8', fields, version, max_bytes, expires_at
      FROM direct_uploads WHERE id = 'direct-open';
    INSERT INTO direct_upload_files (direct_upload_id, position, token_sha256, field, flavor, upload_id) VALUES
      ('direct-between', 0, encode(sha256('between'), 'hex'), 'presenter', 'presenter/source', 'upload-of-direct-8')`,
  '0041': `
    INSERT INTO playlists (id, title, description, creator, read_roles, write_roles) VALUES
      ('playlist-1', 'Lectures', 'Of the summer', 'ada', '{ROLE_READER}', DEFAULT);
    INSERT INTO playlist_entries (playlist_id, position, content_id) VALUES
      ('playlist-1', 0, 'event-1'), ('playlist-1', 1, 'event-that-is-gone');
    INSERT INTO playlist_acl (playlist_id, position, role, action, allow) VALUES
      ('playlist-1', 0, 'ROLE_READER', 'read', true)`,
  '0042': `
    INSERT INTO user_groups (id, name, description, roles) VALUES ('staff', 'Staff', 'Who record', '{ROLE_STUDIO}');
    INSERT INTO user_group_members (group_id, username) VALUES ('staff', 'ada')`,
  '0043': `
    INSERT INTO editor_locks (event_id, uuid, username, expires_at) VALUES
      ('event-1', 'lock-1', 'ada', '2026-04-13T08:00:00Z');
    UPDATE tracks SET hidden_streams = '{audio}' WHERE id = '00000000-0000-4000-8000-000000000001'`,
  '0044': `
    INSERT INTO used_tokens (digest, expires_at) VALUES (sha256('token'), '2026-04-13T08:00:00Z')`,
  '0045': `
    INSERT INTO event_views (event_id, hour, views) VALUES ('event-1', '2026-04-13T08:00:00Z', 42);
    INSERT INTO organization_views (hour, views) VALUES ('2026-04-13T08:00:00Z', 43)`,
  '0046': `
    INSERT INTO caption_words (element_id, event_id, words) VALUES
      ('00000000-0000-4000-8000-000000000004', 'event-1', array_to_tsvector('{limit,sequence}'))`,
  '0047': `
    INSERT INTO import_sources (name, passes) VALUES ('https://old.example.org', 1);
    INSERT INTO import_items (source_id, kind, id, title, state, notes, copied, version, files, bytes, pass) VALUES
      (1, 'event', 'event-1', 'Lecture', 'copied', '{"The channel youtube has no files."}', 'digest', '2', 1, 50000000000, 1);
    INSERT INTO import_files (source_id, path, event_id, file_id, mark) VALUES
      (1, '/static/lecture.mp4', 'event-1', '00000000-0000-4000-8000-000000000001', '50000000000')`,
  '0048': `
    UPDATE import_items SET copied_files = 'digest';
    INSERT INTO import_items (source_id, kind, id, title, state, copied, version, pass) VALUES
      (1, 'playlist', 'playlist-1', 'Exercises', 'copied', 'digest', 'version', 1)`,
  '0049': `
    UPDATE tracks SET inspection = '{"indexed": true}' WHERE id = '00000000-0000-4000-8000-000000000001'`,
  '0050': `
    UPDATE events SET tracks_changed_at = '2026-04-13T08:00:00Z' WHERE id = 'event-1'`,
};
