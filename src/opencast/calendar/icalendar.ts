import { INPUTS } from '#capture/agents/agent-names.ts';
import { DEFAULT_WORKFLOW } from '#processing/load-definitions.ts';
import type { Planned } from './schedule-window.ts';

const LINE_BYTES = 75;
const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', ';': '\\;', ',': '\\,', '\n': '\\n' };

/** A file of a recording in the calendar. */
export interface CalendarFile {
  filename: string;
  type: string;
  content: string;
}

export const CALENDAR_BEGIN = lines([
  'BEGIN:VCALENDAR',
  'PRODID:-//Inlet//Capture agents//EN',
  'VERSION:2.0',
  'CALSCALE:GREGORIAN',
]);
export const CALENDAR_END = lines(['END:VCALENDAR']);

/**
 * Formats a recording as iCalendar for the simple parsers of agents: CRLF line ends, times in UTC, no quoted
 * parameters. Written by hand because libraries quote parameters.
 * @param now time of writing
 */
export function calendarEvent(planned: Planned, files: readonly CalendarFile[], now: Date): string {
  return lines([
    'BEGIN:VEVENT',
    `DTSTAMP:${instant(now)}`,
    `DTSTART:${instant(planned.start)}`,
    `DTEND:${instant(planned.end)}`,
    `SUMMARY:${text(planned.title)}`,
    `UID:${planned.event_id}`,
    `LAST-MODIFIED:${instant(planned.changed_at)}`,
    ...(planned.description === '' ? [] : [`DESCRIPTION:${text(planned.description)}`]),
    `LOCATION:${text(planned.agent)}`,
    ...(planned.series_id === null ? [] : [`RELATED-TO:${text(planned.series_id)}`]),
    ...files.map(
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

/** Folds a line after 75 bytes, never within a character. */
function folded(line: string): string {
  if (Buffer.byteLength(line) <= LINE_BYTES) return line;
  const parts: string[] = [];
  let [part, bytes] = ['', 0];
  for (const character of line) {
    const size = Buffer.byteLength(character);
    if (bytes + size > LINE_BYTES) {
      parts.push(part);
      // Continuation lines begin with a blank, which counts.
      [part, bytes] = ['', 1];
    }
    part += character;
    bytes += size;
  }
  return [...parts, part].join('\r\n ');
}

const WORKFLOW = 'org.opencastproject.workflow.definition';
const WORKFLOW_VALUE = 'org.opencastproject.workflow.config.';
/** The value for an agent that chooses its inputs. */
const ALL_INPUTS = 'default';
/** Java's properties files may break lines here, and agents know no escapes. */
const LINE_BREAKS = /[\r\n\u2028\u2029]+/g;

/** Returns the properties of a recording, by the names that agents know. */
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
    // Some agents would ingest with an empty workflow.
    [WORKFLOW]: workflow || DEFAULT_WORKFLOW,
    ...Object.fromEntries(
      Object.entries(properties as Record<string, string>).map(([name, value]) => [WORKFLOW_VALUE + name, value]),
    ),
  };
}

/**
 * Formats properties as a file, one line each. Begins with two comment lines, because some agents drop the first two
 * lines.
 */
export function propertiesFile(properties: Readonly<Record<string, string>>): string {
  const line = (text: string) => text.replace(LINE_BREAKS, ' ');
  const lines = Object.entries(properties).map(([name, value]) => `${line(name)}=${line(value)}`);
  return ['# Capture agent specific data', '# Inlet', ...lines, ''].join('\n');
}
