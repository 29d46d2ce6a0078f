-- A workflow continues after an optional operation has failed.
ALTER TABLE workflow_operations ADD COLUMN IF NOT EXISTS optional boolean NOT NULL DEFAULT false;

-- The words of captions that are published or prepared for that, for textFilter. Substrings of so much text would match
-- nearly everything, so that only the beginnings of words are found. A row goes with its captions.
CREATE TABLE IF NOT EXISTS caption_words (
  element_id uuid PRIMARY KEY REFERENCES publication_elements ON DELETE CASCADE,
  event_id   text NOT NULL REFERENCES events ON DELETE CASCADE,
  words      tsvector NOT NULL
);
-- Tests of single events read it as it is.
ALTER TABLE caption_words ALTER COLUMN words SET STORAGE EXTERNAL;
CREATE INDEX IF NOT EXISTS caption_words_event ON caption_words (event_id);
CREATE INDEX IF NOT EXISTS caption_words_words ON caption_words USING gin (words);
