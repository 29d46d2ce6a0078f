import { connect } from 'node:net';

const SILENCE_MS = 20_000;

/** What came back over a connection of its own, and whether the server ended that. */
export interface Exchange {
  answer: string;
  closed: boolean;
}

/** Sends bytes over a connection of their own and waits until the server, or patience, ends it. */
export function exchange(url: string, request: string): Promise<Exchange> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const received: Buffer[] = [];
    let closed = true;
    const socket = connect(Number(port), hostname, () => socket.write(Buffer.from(request, 'latin1')));
    socket.setTimeout(SILENCE_MS, () => {
      closed = false;
      socket.destroy();
    });
    socket.on('data', (chunk) => received.push(chunk));
    // The other side hanging up in the middle is an answer as well.
    socket.on('error', () => undefined);
    socket.on('close', () => resolve({ answer: Buffer.concat(received).toString('latin1'), closed }));
  });
}

/** An answer as it came: names of headers in lower case, and the bytes after them. */
export interface RawAnswer {
  status: number;
  headers: Record<string, string>;
  rest: string;
}

/** Takes the first answer apart. @throws Error when it is none */
export function parseAnswer(text: string): RawAnswer {
  const end = text.indexOf('\r\n\r\n');
  const [first = '', ...lines] = text.slice(0, end).split('\r\n');
  const status = /^HTTP\/1\.[01] (\d{3}) /.exec(first)?.[1];
  if (end < 0 || !status) throw new Error(`This is no HTTP answer: ${JSON.stringify(text.slice(0, 100))}`);
  const headers = lines.map((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  });
  return { status: Number(status), headers: Object.fromEntries(headers), rest: text.slice(end + 4) };
}
