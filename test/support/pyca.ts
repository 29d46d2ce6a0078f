/** What pyCA reads of a calendar, as its parser does: it knows no parameters, and unfolds only CRLF and a blank. */
export function parseAsPyca(calendar: string): PycaEvent[] {
  const events: PycaEvent[] = [];
  for (const part of calendar.replaceAll('\r\n ', '').split('\r\nBEGIN:VEVENT\r\n').slice(1)) {
    const event: PycaEvent = { attach: [] };
    for (const line of part.split('\r\n')) {
      if (line.startsWith('END:VEVENT')) break;
      const colon = line.indexOf(':');
      const [key, value] = [line.slice(0, colon), line.slice(colon + 1)];
      if (key.startsWith('ATTACH;')) {
        const parameters = new Map(
          key.split(';').map((parameter) => {
            const [name = '', text = ''] = parameter.split('=');
            return [name.toLowerCase(), text];
          }),
        );
        event.attach.push({
          fmttype: parameters.get('fmttype'),
          filename: parameters.get('x-apple-filename'),
          data: new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(value, 'base64')),
        });
      } else event[key.toLowerCase()] = value;
    }
    events.push(event);
  }
  return events;
}

/** An event by the names of its properties in small letters. */
export interface PycaEvent {
  [name: string]: unknown;
  attach: { fmttype: string | undefined; filename: string | undefined; data: string }[];
}
