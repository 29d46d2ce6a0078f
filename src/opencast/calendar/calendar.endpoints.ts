import { createHash } from 'node:crypto';
import { z } from 'zod';
import { OTHER_AGENT, type Principal, requireOwnAgent } from '#access/principal.ts';
import { ROLE_CAPTURE_AGENT } from '#access/roles/roles.ts';
import { AGENT_ID } from '#capture/agents/agent-examples.ts';
import { episodeValues } from '#catalogue/events/event-columns.ts';
import type { CatalogSet, Catalogs } from '#metadata/catalogs.ts';
import { formatDuration } from '#metadata/date-time.ts';
import { dublinCore } from '#metadata/dublincore.ts';
import { xmlText } from '#metadata/xml-text.ts';
import type { Database } from '#platform/database/kysely.ts';
import { matchesNone, strongEtag } from '#platform/http/answer/etag.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { TAGGED_HEADERS } from '#platform/http/endpoint/endpoint-schemas.ts';
import { refusal } from '#platform/http/errors/errors.ts';
import { quoted } from '#platform/text/excerpt.ts';
import {
  agentProperties,
  CALENDAR_BEGIN,
  CALENDAR_END,
  type CalendarFile,
  calendarEvent,
  propertiesFile,
} from './icalendar.ts';
import { type CalendarWindow, calendarTag, type Planned, plannedRecordings } from './schedule-window.ts';

const PROPERTIES_FILE = 'org.opencastproject.capture.agent.properties';

/** Returns the metadata and the properties of a recording. */
function filesOf(planned: Planned, catalogs: CatalogSet): CalendarFile[] {
  const xml = (filename: string, content: string) => ({ filename, type: 'application/xml', content });
  return [
    xml('episode.xml', episodeXml(planned, catalogs)),
    ...(planned.series_id === null ? [] : [xml('series.xml', seriesXml(planned.series_id, planned.series_title))]),
    { filename: PROPERTIES_FILE, type: 'application/text', content: propertiesFile(agentProperties(planned)) },
  ];
}

/** Returns the episode catalog with the scheduled time. */
function episodeXml(planned: Planned, { common }: CatalogSet): string {
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

interface Services {
  database: Database;
  catalogs: Pick<Catalogs, 'event'>;
}

/** The latest date of the database. */
const LATEST_MS = Date.UTC(9999, 11, 31);
/** Upper limit for displays. */
const MOST_JSON = 1000;
const access = [ROLE_CAPTURE_AGENT];
const DAY = new Intl.DateTimeFormat('en-US', { dateStyle: 'medium', timeStyle: 'medium', timeZone: 'UTC' });

const WRONG_CUTOFF = refusal(
  400,
  (cutoff: unknown) =>
    `The query parameter 'cutoff' is ${quoted(cutoff)}; allowed are milliseconds since 1970, such as 1790000000000.`,
  ['tomorrow'],
);

const Query = z.object({
  agentid: z.string().optional().meta({ description: 'Name of the capture agent.', example: AGENT_ID }),
  seriesid: z.string().optional().describe('Identifier of a series.'),
  cutoff: z
    .string()
    .trim()
    .regex(/^\d{0,15}$/, { error: ({ input }) => WRONG_CUTOFF.sentence(input) })
    .refine((text) => Number(text) <= LATEST_MS, { error: ({ input }) => WRONG_CUTOFF.sentence(input) })
    .optional()
    .meta({
      description: 'Only recordings that start before this time, in milliseconds since 1970.',
      example: '1790000000000',
    }),
});

/** The schedules of capture agents. */
export const CALENDAR_ENDPOINTS = [
  defineEndpoint({
    method: 'get',
    path: '/recordings/calendars',
    access,
    summary: 'Get the calendar of a capture agent',
    description:
      'Scheduled recordings in iCalendar, each with its metadata and a properties file, until one hour after their end. The calendar of an unknown agent is empty. An account of one capture agent reads only its calendar.',
    query: Query,
    answers: {
      200: {
        description: 'The calendar.',
        mediaType: 'text/calendar; charset=UTF-8',
        body: z.string(),
        example: `${CALENDAR_BEGIN}${CALENDAR_END}`,
        headers: TAGGED_HEADERS,
      },
      304: { description: 'The calendar has not changed since the answer with this `ETag`.' },
    },
    refusals: [WRONG_CUTOFF, OTHER_AGENT],
    handle: async ({ c, query }, { database, catalogs }: Services) => {
      const window = windowOf(query(), c.var.principal);
      const written = (now: Date) => (planned: Planned[]) =>
        planned.map((each) => calendarEvent(each, filesOf(each, catalogs.event), now)).join('');
      // Changes are recorded per agent only.
      const tag =
        window.agentId === undefined
          ? await digestOf(plannedRecordings(database, window), written(new Date(0)))
          : await calendarTag(database, window);
      const etag = strongEtag(tag);
      const headers = { ETag: etag, 'Cache-Control': 'private, no-cache' };
      if (matchesEtag(c.req.header('If-None-Match'), etag)) return c.body(null, 304, headers);
      return c.body(await streamed(plannedRecordings(database, window), written(new Date())), 200, {
        ...headers,
        'Content-Type': 'text/calendar; charset=UTF-8',
      });
    },
  }),
  defineEndpoint({
    method: 'get',
    path: '/recordings/calendar.json',
    access,
    summary: 'Get the calendar of a capture agent as JSON',
    description: `The next ${MOST_JSON} scheduled recordings at most. An account of one capture agent reads only its calendar.`,
    query: Query.extend({
      timestamp: z.string().optional().describe('`true` for times in milliseconds since 1970.'),
    }),
    answers: {
      200: {
        description: 'Scheduled recordings, by start.',
        plain: true,
        body: z.array(z.object({ data: z.looseObject({}), 'episode-dublincore': z.string() })),
        example: [
          {
            data: {
              eventId: '0f5f3c9e-7b52-4d55-8a4e-3a1c5f0e6d21',
              agentId: AGENT_ID,
              startDate: 1_791_792_900_000,
              endDate: 1_791_798_300_000,
              agentConfig: { 'event.title': 'Algebra I', 'event.location': AGENT_ID },
            },
            'episode-dublincore': '<dublincore/>',
          },
        ],
      },
    },
    refusals: [WRONG_CUTOFF, OTHER_AGENT],
    handle: async ({ c, query }, { database, catalogs }: Services) => {
      const { timestamp, ...wanted } = query();
      const moment = timestamp?.toLowerCase() === 'true' ? (date: Date) => date.getTime() : formatMoment;
      const planned: Planned[] = [];
      for await (const some of plannedRecordings(database, windowOf(wanted, c.var.principal))) {
        planned.push(...some);
        if (planned.length >= MOST_JSON) break;
      }
      return c.json(
        planned.slice(0, MOST_JSON).map((each) => ({
          data: {
            eventId: each.event_id,
            agentId: each.agent,
            startDate: moment(each.start),
            endDate: moment(each.end),
            presenters: each.presenters,
            agentConfig: agentProperties(each),
          },
          'episode-dublincore': episodeXml(each, catalogs.event),
        })),
      );
    },
  }),
];

/** @throws {HttpError} 403 for another agent than that of the account */
function windowOf({ agentid, seriesid, cutoff }: z.infer<typeof Query>, principal: Principal): CalendarWindow {
  const agentId = agentid?.trim() || principal.agentId;
  if (agentId !== undefined) requireOwnAgent(principal, agentId);
  return {
    agentId,
    seriesId: seriesid?.trim() || undefined,
    cutoff: cutoff ? new Date(Number(cutoff)) : undefined,
  };
}

/** Returns a digest of the whole calendar without keeping it in memory. */
async function digestOf(batches: AsyncGenerator<Planned[]>, text: (planned: Planned[]) => string): Promise<string> {
  const hash = createHash('sha256');
  for await (const planned of batches) hash.update(text(planned));
  return hash.digest('base64url').slice(0, 27);
}

/** Compares the tag that a client sends. Some agents drop the quotes, or the part before the first one. */
function matchesEtag(header: string | undefined, etag: string): boolean {
  return header !== undefined && (header.trim() === etag.slice(1, -1) || matchesNone(header, etag));
}

/** Formats a time for clients that read English month names. They could confuse days and months in figures. */
function formatMoment(date: Date): string {
  return `${DAY.format(date).replaceAll(/\s/g, ' ')} UTC`;
}

/**
 * Streams a calendar. Reads the first batch before the response begins, so that faults of the database get an error
 * response.
 */
async function streamed(
  batches: AsyncGenerator<Planned[]>,
  text: (planned: Planned[]) => string,
): Promise<ReadableStream> {
  const encoder = new TextEncoder();
  let known: IteratorResult<Planned[]> | undefined = await batches.next();
  return new ReadableStream({
    start: (controller) => controller.enqueue(encoder.encode(CALENDAR_BEGIN)),
    pull: async (controller) => {
      const { done, value } = known ?? (await batches.next());
      known = undefined;
      controller.enqueue(encoder.encode(done ? CALENDAR_END : text(value)));
      if (done) controller.close();
    },
    cancel: async () => void (await batches.return(undefined)),
  });
}
