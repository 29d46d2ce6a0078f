import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { freePort } from './free-port.ts';

/** Stands between a client and a server, so that a test can part them. */
export interface TestProxy {
  port: number;
  /** Breaks every connection and refuses new ones, as a server does that is gone. */
  part(): Promise<void>;
  /** Lets nothing through and breaks nothing, as a server that is stopped: new connections come about, nobody answers. */
  silence(): void;
  /** The same for those connections only that there are, and for good: new ones get through. */
  lose(): void;
  /** Ends the far side of what is lost: its keepalive has found out. */
  bury(): void;
  /** Takes every connection and hangs up at the first word, as a server does that is going down. */
  hangUp(): void;
  /** Lets connections through again, and what is on its way. */
  join(): Promise<void>;
  /** Leads later connections to another server, as an address that moves does. */
  lead(port: number): void;
  stop(): Promise<void>;
}

type Mode = 'through' | 'silent' | 'hanging up';

export async function startProxy(host: string, port: number): Promise<TestProxy> {
  const sockets = new Set<Socket>();
  const pairs = new Set<[Socket, Socket]>();
  const lost: Socket[] = [];
  let target = port;
  let mode: Mode = 'through';
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).once('close', () => sockets.delete(socket));
  };
  const pass = ([near, far]: [Socket, Socket]) => near.pipe(far).pipe(near);
  const server = createServer({ allowHalfOpen: true }, (near) => {
    keep(near);
    if (mode === 'hanging up') {
      near.once('data', () => near.destroy());
      return;
    }
    const far = connect({ port: target, host, allowHalfOpen: true });
    keep(far);
    const pair: [Socket, Socket] = [near, far];
    pairs.add(pair);
    near.once('close', () => far.destroy());
    far.once('close', () => near.destroy());
    near.once('close', () => pairs.delete(pair));
    if (mode === 'through') pass(pair);
  });
  const own = await freePort();
  const join = async () => {
    if (mode === 'silent') for (const pair of pairs) pass(pair);
    mode = 'through';
    if (server.listening) return;
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
  const mute = () => {
    for (const socket of [...pairs].flat()) socket.unpipe().pause();
  };
  return {
    port: own,
    part,
    silence: () => {
      mode = 'silent';
      mute();
    },
    lose: () => {
      mute();
      lost.push(...[...pairs].map(([, far]) => far));
      pairs.clear();
    },
    bury: () => {
      for (const far of lost.splice(0)) far.destroy();
    },
    hangUp: () => {
      mode = 'hanging up';
      for (const socket of sockets) socket.destroy();
    },
    join,
    lead: (to) => {
      target = to;
    },
    stop: part,
  };
}

/** A proxy before the server of a URL. @returns with the URL that leads through it */
export async function startProxyTo(url: string): Promise<{ proxy: TestProxy; url: string }> {
  const through = new URL(url);
  const proxy = await startProxy(through.hostname, Number(through.port || DEFAULT_PORTS[through.protocol]));
  through.host = `127.0.0.1:${proxy.port}`;
  return { proxy, url: through.toString() };
}

const DEFAULT_PORTS: Record<string, number> = { 'postgres:': 5432, 'postgresql:': 5432, 'redis:': 6379 };
