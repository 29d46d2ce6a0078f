import { randomUUID } from 'node:crypto';

/** One part of a multipart form, as it goes over the wire. */
export interface Part {
  name: string;
  /** Undefined for a form field. Sent as it is, with `"` and `\` escaped as curl does. */
  filename?: string;
  type?: string;
  content: string | Uint8Array;
}

/** A form ready to be sent: the value of the Content-Type header and the body. */
export interface Form {
  type: string;
  body: Buffer<ArrayBuffer>;
}

export const field = (name: string, content: string): Part => ({ name, content });

export const file = (name: string, filename: string, content: Uint8Array): Part => ({
  name,
  filename,
  type: 'application/octet-stream',
  content,
});

/** Every byte as the parts say: their order, their names, nothing cleaned up. */
export function form(parts: readonly Part[]): Form {
  const boundary = `----inlet-test-${randomUUID()}`;
  const chunks = parts.flatMap(({ name, filename, type, content }) => {
    const escaped = filename?.replace(/["\\]/g, (character) => `\\${character}`);
    const disposition = `form-data; name="${name}"${filename === undefined ? '' : `; filename="${escaped}"`}`;
    const head = [`--${boundary}`, `Content-Disposition: ${disposition}`, ...(type ? [`Content-Type: ${type}`] : [])];
    return [Buffer.from(`${head.join('\r\n')}\r\n\r\n`), Buffer.from(content), Buffer.from('\r\n')];
  });
  return {
    type: `multipart/form-data; boundary=${boundary}`,
    body: Buffer.concat([...chunks, Buffer.from(`--${boundary}--\r\n`)]),
  };
}

/** What a test changes about the three fields that every event needs. */
export interface EventFields {
  title?: string;
  /** More fields of `dublincore/episode`. */
  metadata?: Record<string, unknown>;
  acl?: { role: string; action: string; allow?: boolean }[];
  workflow?: string;
  configuration?: Record<string, string>;
}

/** The fields of a new event, from a client that asks for nothing special. */
export function eventFields({
  title = 'Lecture',
  metadata = {},
  acl = [{ role: 'ROLE_USER', action: 'read', allow: true }],
  workflow = 'schedule-and-upload',
  configuration,
}: EventFields = {}): Part[] {
  const fields = Object.entries({ title, ...metadata }).map(([id, value]) => ({ id, value }));
  return [
    field('acl', JSON.stringify(acl)),
    field('metadata', JSON.stringify([{ flavor: 'dublincore/episode', fields }])),
    field('processing', JSON.stringify({ workflow, configuration })),
  ];
}
