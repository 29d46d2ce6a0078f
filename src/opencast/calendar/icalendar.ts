import { INPUTS } from '#capture/agents/names.ts';
import { USUAL } from '#processing/definitions.ts';
import type { Planned } from './schedule-window.ts';

const LINE_BYTES = 75;
const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', ';': '\\;', ',': '\\,', '\n': '\\n' };

/** A recording in a calendar. */
export interface CalendarEvent {
  uid: string;
  start: Date;
  end: Date;
  changed: Date;
  summary: string;
  description: string;
  location: string;
  /** Identifier of its series. */
  relatedTo: string | undefined;
  attachments: readonly { filename: string; type: string; content: string }[];
}

export const CALENDAR_BEGIN = lines([
  'BEGIN:VCALENDAR',
  'PRODID:-//Inlet//Capture agents//EN',
  'VERSION:2.0',
  'CALSCALE:GREGORIAN',
]);
export const CALENDAR_END = lines(['END:VCALENDAR']);

/**
 * A recording in iCalendar, for the parsers of agents, which know less than the standard: lines end in CRLF, times are in
 * UTC, and no value of a parameter is quoted. Of our own, because libraries quote such values as they like.
 *
 * @param now when it is written
 */
export function calendarEvent(event: CalendarEvent, now: Date): string {
  return lines([
    'BEGIN:VEVENT',
    `DTSTAMP:${instant(now)}`,
    `DTSTART:${instant(event.start)}`,
    `DTEND:${instant(event.end)}`,
    `SUMMARY:${text(event.summary)}`,
    `UID:${event.uid}`,
    `LAST-MODIFIED:${instant(event.changed)}`,
    ...(event.description === '' ? [] : [`DESCRIPTION:${text(event.description)}`]),
    `LOCATION:${text(event.location)}`,
    ...(event.relatedTo === undefined ? [] : [`RELATED-TO:${text(event.relatedTo)}`]),
    ...event.attachments.map(
      ({ filename, type, content }) =>
        `ATTACH;FMTTYPE=${type};VALUE=BINARY;ENCODING=BASE64;X-APPLE-FILENAME=${filename}:${Buffer.from(content).toString('base64')}`,
    ),
    'END:VEVENT',
  ]);
}

function instant(date: Date): string {
  return `${date.toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`;
}

function text(value: string): string {
  return value
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(/[^\n\P{Cc}]/gu, ' ')
    .replaceAll(/[\\;,\n]/g, (character) => ESCAPES[character] ?? character);
}

function lines(content: readonly string[]): string {
  return content.map((line) => `${folded(line)}\r\n`).join('');
}

/** Lines of at most 75 bytes, never broken within a character. */
function folded(line: string): string {
  if (Buffer.byteLength(line) <= LINE_BYTES) return line;
  const parts: string[] = [];
  let [part, bytes] = ['', 0];
  for (const character of line) {
    const size = Buffer.byteLength(character);
    if (bytes + size > LINE_BYTES) {
      parts.push(part);
      // The blank that marks the next line as belonging to this one counts as well.
      [part, bytes] = ['', 1];
    }
    part += character;
    bytes += size;
  }
  return [...parts, part].join('\r\n ');
}

const WORKFLOW = 'org.opencastproject.workflow.definition';
const WORKFLOW_VALUE = 'org.opencastproject.workflow.config.';
/** What an agent records that nobody has chosen inputs for. */
const ALL_INPUTS = 'default';
/** Java's own files may break lines by them, and agents know no escapes. */
const LINE_BREAKS = /[\r\n\u2028\u2029]+/g;

/** What an agent is told about a recording beside its metadata, by names that agents know. */
export function agentProperties({
  title,
  series_id,
  agent,
  inputs,
  workflow,
  properties,
}: Planned): Record<string, string> {
  return {
    'event.title': title,
    ...(series_id !== null && { 'event.series': series_id }),
    'event.location': agent,
    [INPUTS]: inputs.join(',') || ALL_INPUTS,
    // Some agents would ingest with an empty one.
    [WORKFLOW]: workflow || USUAL,
    ...Object.fromEntries(
      Object.entries(properties as Record<string, string>).map(([name, value]) => [WORKFLOW_VALUE + name, value]),
    ),
  };
}

/**
 * The same as a properties file: a line for each, without anything that could be taken for another line. Some agents drop
 * the first two lines, which are comments where Java has written them.
 */
export function propertiesFile(properties: Readonly<Record<string, string>>): string {
  const line = (text: string) => text.replace(LINE_BREAKS, ' ');
  const lines = Object.entries(properties).map(([name, value]) => `${line(name)}=${line(value)}`);
  return ['# Capture agent specific data', '# Inlet', ...lines, ''].join('\n');
}
