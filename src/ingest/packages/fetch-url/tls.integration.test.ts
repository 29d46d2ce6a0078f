import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openUrl } from './open-url.ts';

const has = (program: string) => spawnSync(program, ['version']).status === 0;

test.skipIf(!has('openssl')).each(['localhost', '127.0.0.1'])(
  'a host %s whose certificate nobody has signed is not asked',
  async (host) => {
    const folder = await mkdtemp(join(tmpdir(), 'tls-'));
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
    spawnSync('openssl', [
      'req',
      '-x509',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-keyout',
      key,
      '-out',
      cert,
      ...subject,
    ]);
    let requests = 0;
    const server = createServer({ key: await readFile(key), cert: await readFile(cert) }, (_, response) => {
      requests++;
      response.end('media');
    });
    try {
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as AddressInfo;
      const options = { hosts: [{ host, port }], maxBytes: 100, idleMs: 30_000 };
      await expect(openUrl(`https://${host}:${port}/`, options)).rejects.toMatchObject({
        status: 400,
        message:
          'The URL cannot be fetched: no encrypted connection to its host came about, or its certificate is not trusted.',
      });
      expect(requests).toBe(0);
    } finally {
      server.close();
      await rm(folder, { recursive: true });
    }
  },
);
