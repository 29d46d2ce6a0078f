import { episodeValues } from '#catalogue/events/columns.ts';
import type { CatalogSet } from '#metadata/catalogs.ts';
import { dublinCore } from '#metadata/dublincore.ts';
import { formatDuration } from '#metadata/time.ts';
import { xmlText } from '#metadata/xml.ts';
import { agentProperties, propertiesFile } from './agent-properties.ts';
import type { CalendarEvent } from './icalendar.ts';
import type { Planned } from './schedule-window.ts';

const PROPERTIES_FILE = 'org.opencastproject.capture.agent.properties';

/** A recording as the calendar of its agent shows it. */
export function calendarEventOf(planned: Planned, catalogs: CatalogSet): CalendarEvent {
  const xml = (filename: string, content: string) => ({ filename, type: 'application/xml', content });
  return {
    uid: planned.event_id,
    start: planned.start,
    end: planned.end,
    changed: planned.changed_at,
    summary: planned.title,
    description: planned.description,
    location: planned.agent,
    relatedTo: planned.series_id ?? undefined,
    attachments: [
      xml('episode.xml', episodeXml(planned, catalogs)),
      ...(planned.series_id === null
        ? []
        : [xml('series.xml', seriesXml(planned.series_id, planned.series_title))]),
      {
        filename: PROPERTIES_FILE,
        type: 'application/text',
        content: propertiesFile(agentProperties(planned)),
      },
    ],
  };
}

/** Its metadata, with the time at which it is to be recorded. */
export function episodeXml(planned: Planned, { common }: CatalogSet): string {
  const values = episodeValues(planned);
  values.set('startDate', planned.start.toISOString());
  values.set('duration', formatDuration(planned.end.getTime() - planned.start.getTime()));
  return dublinCore(common, values);
}

function seriesXml(id: string, title: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<dublincore xmlns="http://www.opencastproject.org/xsd/1.0/dublincore/" xmlns:dcterms="http://purl.org/dc/terms/">
  <dcterms:title>${xmlText(title)}</dcterms:title>
  <dcterms:identifier>${xmlText(id)}</dcterms:identifier>
</dublincore>
`;
}
