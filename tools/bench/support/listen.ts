import { once } from 'node:events';
import type { Server } from 'node:net';

/** Lets a server listen on some port of this machine. @returns the port */
export async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('No port could be had.');
  return address.port;
}
