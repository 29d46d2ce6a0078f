/** The columns a list shows, as the API reads them. */
export const COLUMNS = {
  events: `id, title, description, subjects, language, rights_holder, license, presenters, contributors, location,
    source, publisher, series_id, series_title, start_date, created, duration, creator, archive_version,
    processing_state, status, agent_id, technical_start, technical_end,
    ARRAY(SELECT channel FROM publications WHERE event_id = events.id ORDER BY channel) AS channels,
    EXISTS (SELECT FROM tracks t WHERE t.event_id = events.id AND t.is_media AND t.duration IS NOT NULL AND EXISTS (
      SELECT FROM attachments a WHERE a.event_id = t.event_id AND a.track_id = t.id AND a.flavor LIKE '%/preview'
      UNION ALL SELECT FROM publication_elements e WHERE e.event_id = t.event_id AND e.track = t.position
        AND e.kind = 'media' AND e.duration >= t.duration - 1000)) AS has_previews`,
  series: `id, title, description, creator, created, subjects, contributors, organizers, publishers, language, license,
    rights_holder`,
};
