const LONGEST_MS = 3_600_000;

/** Parses `Retry-After`, in seconds or as a date. @returns milliseconds, at most an hour; undefined for anything else */
export function parseRetryAfter(header: string | null | undefined): number | undefined {
  if (!header) return undefined;
  const ms = /^\d{1,9}$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.min(LONGEST_MS, Math.max(0, ms));
}
