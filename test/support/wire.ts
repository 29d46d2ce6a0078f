import type { Form } from './form.ts';

/** One part of a multipart body as a client's library writes it, headers and all. */
export interface WirePart {
  headers: readonly string[];
  content: string;
}

/** What the PHP library Guzzle sends for a field: also its length, and a boundary of 40 hexadecimal digits. */
export function guzzlePart(name: string, content: string, more: readonly string[] = []): WirePart {
  const [filename = '', ...rest] = more;
  return {
    headers: [
      `Content-Disposition: form-data; name="${name}"${filename && `; filename="${filename}"`}`,
      `Content-Length: ${Buffer.byteLength(content)}`,
      ...rest,
    ],
    content,
  };
}

/** A multipart body with nothing added. */
export function wireForm(parts: readonly WirePart[]): Form {
  const boundary = 'd41d8cd98f00b204e9800998ecf8427e0a1b2c3d';
  const texts = parts.map(({ headers, content }) => `--${boundary}\r\n${headers.join('\r\n')}\r\n\r\n${content}\r\n`);
  return {
    type: `multipart/form-data; boundary=${boundary}`,
    body: Buffer.from(`${texts.join('')}--${boundary}--\r\n`, 'utf8'),
  };
}
