/** What somebody sends who wishes a server ill: whole, or piece by piece for as long as the server listens. */
export interface HostileRequest {
  name: string;
  pieces(): Iterable<string>;
  /** Whether it may also be taken for what it says, as what is odd and harmless. All others are refused, with 4xx. */
  harmless?: boolean;
  /** The statuses that it is answered with, where no other one is right. */
  statuses?: readonly number[];
}

export const MIB = 2 ** 20;
export const MULTIPART = 'Content-Type: multipart/form-data; boundary=b\r\n';
export const URLENCODED = 'Content-Type: application/x-www-form-urlencoded\r\n';
export const CHUNKED = 'Transfer-Encoding: chunked\r\n';
/** For what is as well taken for what it says. */
export const odd = { harmless: true };

/** How requests begin of somebody with an account, who comes further than others. */
export interface Starts {
  /** Headers alone. */
  head: string;
  get: string;
  /** A form with files. */
  upload: string;
  /** A form of texts. */
  series: string;
  /** A request that must not be taken for one. */
  next: string;
}

/** @param authorization a header's value */
export function startsOf(authorization: string): Starts {
  const head = `Host: inlet\r\nAuthorization: ${authorization}\r\nConnection: close\r\n`;
  return {
    head,
    get: `GET /api/info/me HTTP/1.1\r\n${head}`,
    upload: `POST /api/events HTTP/1.1\r\n${head}${MULTIPART}`,
    series: `POST /api/series HTTP/1.1\r\n${head}`,
    next: 'GET /api/smuggled HTTP/1.1\r\nHost: inlet\r\n\r\n',
  };
}

/** One that is sent at once. */
export function whole(name: string, text: string, more: Partial<HostileRequest> = {}): HostileRequest {
  return { name, pieces: () => [text], ...more };
}

/** One that goes on for so many bytes, unless the server ends it. */
export function* endless(start: string, piece: string, bytes: number): Iterable<string> {
  yield start;
  for (let sent = 0; sent < bytes; sent += piece.length) yield piece;
}

export function withBody(start: string, body: string): string {
  return `${start}Content-Length: ${body.length}\r\n\r\n${body}`;
}

export function chunk(text: string): string {
  return `${text.length.toString(16)}\r\n${text}\r\n`;
}
