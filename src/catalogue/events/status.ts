const PREFIX = 'EVENTS.EVENTS.STATUS.';

/** A technical status as clients compare it (compatibility 3.2). The database derives it, and keeps the end of it. */
export function shownStatus(status: string): string {
  return PREFIX + status;
}

/** What the database keeps of a status that a client asks for; undefined for what is no status. */
export function storedStatus(shown: string): string | undefined {
  return shown.startsWith(PREFIX) ? shown.slice(PREFIX.length) : undefined;
}
