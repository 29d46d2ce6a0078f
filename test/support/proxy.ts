import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { freePort } from './free-port.ts';

/** Stands between a client and a server, so that a test can part them. */
export interface TestProxy {
  port: number;
  /** Breaks every connection and refuses new ones, as a server does that is gone. */
  part(): Promise<void>;
  /** Lets connections through again. */
  join(): Promise<void>;
  stop(): Promise<void>;
}

export async function startProxy(host: string, port: number): Promise<TestProxy> {
  const sockets = new Set<Socket>();
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).once('close', () => sockets.delete(socket));
  };
  const server = createServer((near) => {
    const far = connect(port, host);
    keep(near);
    keep(far);
    near.pipe(far).pipe(near);
    near.once('close', () => far.destroy());
    far.once('close', () => near.destroy());
  });
  const own = await freePort();
  const join = async () => {
    server.listen(own, '127.0.0.1');
    await once(server, 'listening');
  };
  await join();
  const part = async () => {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  return { port: own, part, join, stop: part };
}
