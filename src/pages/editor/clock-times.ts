import { badRequest } from '#platform/http/errors/errors.ts';
import { quoted } from '#platform/text/excerpt.ts';

const CLOCK = /^(?:(?:(\d{1,3}):)?(\d{1,3}):)?(\d{1,6})(?:[.,](\d{1,3}))?$/;

/** Formats milliseconds as `0:01:02.500`. */
export function formatClock(ms: number): string {
  const all = Math.round(ms);
  const pad = (value: number, digits: number) => String(Math.floor(value)).padStart(digits, '0');
  return `${Math.floor(all / 3_600_000)}:${pad((all / 60_000) % 60, 2)}:${pad((all / 1000) % 60, 2)}.${pad(all % 1000, 3)}`;
}

/** Parses a time of a recording such as `62.5`, `1:02.5` or `0:01:02.500`. @throws {HttpError} 400 */
export function parseClock(text: string): number {
  const [, hours = '0', minutes = '0', seconds, fraction = ''] = CLOCK.exec(text.trim()) ?? [];
  if (seconds === undefined) throw badRequest(`${quoted(text)} is not a time; allowed are times such as 0:01:02.500.`);
  const whole = (Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds);
  return whole * 1000 + Number(fraction.padEnd(3, '0'));
}
