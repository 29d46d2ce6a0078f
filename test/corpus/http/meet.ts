import { once } from 'node:events';
import { connect } from 'node:net';
import type { HostileRequest } from './request.ts';

/** How a server met it. */
export interface Met {
  /** Of the first answer that is final; undefined for a connection that was ended without any. */
  status: number | undefined;
  answer: string;
  /** Whether the server ended the connection. */
  ended: boolean;
  /** Bytes that were on their way when the answer came. */
  sent: number;
}

/** Sends it over connections of its own until the server answers and ends, or `patienceMs` is over. */
export async function meet(url: string, { pieces }: HostileRequest, patienceMs: number): Promise<Met> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const met: Met = { status: undefined, answer: '', ended: true, sent: 0 };
  socket.on('error', () => undefined);
  socket.on('data', (bytes) => {
    met.answer += bytes.toString('latin1');
  });
  const closed = new Promise((resolve) => socket.once('close', resolve));
  const patience = setTimeout(() => {
    met.ended = false;
    socket.destroy();
  }, patienceMs);
  for (const piece of pieces()) {
    if (met.answer !== '' || socket.destroyed) break;
    met.sent += piece.length;
    if (!socket.write(piece, 'latin1')) await Promise.race([once(socket, 'drain').catch(() => undefined), closed]);
  }
  await closed;
  clearTimeout(patience);
  // Behind such as ask for more.
  met.status = Number(/^HTTP\/1\.1 ([2-5]\d\d)/m.exec(met.answer)?.[1]) || undefined;
  return met;
}
