/** The columns a list shows, as the API reads them. */
export const COLUMNS = {
  events: `id, title, description, subjects, language, rights_holder, license, presenters, contributors, location,
    source, publisher, series_id, series_title, start_date, created, duration, creator, archive_version,
    processing_state, status, agent_id, technical_start, technical_end,
    ARRAY(SELECT channel FROM publications WHERE event_id = events.id ORDER BY channel) AS channels,
    EXISTS (SELECT FROM publication_elements WHERE event_id = events.id AND publication_id IS NOT NULL
      AND flavor LIKE '%/preview') AS has_previews`,
  series: `id, title, description, creator, created, subjects, contributors, organizers, publishers, language, license,
    rights_holder`,
};
