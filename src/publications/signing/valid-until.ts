import { parseDate } from '#metadata/time.ts';

const INSTANT =
  /^(\d{4}-\d{2}-\d{2})(?:T(\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(Z|[+-]\d{2}(?::?\d{2})?)?)?$/i;

/** Until when an address may be used: an ISO 8601 date, with or without a time and an offset (UTC without one); undefined for others. */
export function parseValidUntil(text: string): Date | undefined {
  const [, day = '', hours = '0', minutes = '0', seconds = '0', fraction = '', offset = 'Z'] =
    INSTANT.exec(text.trim()) ?? [];
  const midnight = parseDate(day);
  if (!midnight || Number(hours) > 23 || Number(minutes) > 59 || Number(seconds) > 59) return undefined;
  const ahead = minutesAhead(offset);
  if (ahead === undefined) return undefined;
  const time = ((Number(hours) * 60 + Number(minutes) - ahead) * 60 + Number(seconds)) * 1000;
  return new Date(midnight.getTime() + time + Number(fraction.slice(0, 3).padEnd(3, '0')));
}

/** By how many minutes a clock of the offset (`Z`, `+02`, `-0330`) is ahead of UTC. */
function minutesAhead(offset: string): number | undefined {
  if (offset.toUpperCase() === 'Z') return 0;
  const hours = Number(offset.slice(1, 3));
  const minutes = Number(offset.slice(3).replace(':', '') || 0);
  if (hours > 18 || minutes > 59) return undefined;
  return (hours * 60 + minutes) * (offset.startsWith('-') ? -1 : 1);
}
