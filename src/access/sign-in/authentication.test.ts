import { randomBytes, scryptSync } from 'node:crypto';
import { Hono } from 'hono';
import { expect, test } from 'vitest';
import { handleErrors } from '../../http/error-handler.ts';
import { requestContext } from '../../http/request-context.ts';
import { silentLogger } from '../../telemetry/log.ts';
import { authenticate } from './authentication.ts';
import { Authenticator } from './authenticator.ts';
import { Nonces } from './digest/nonces.ts';
import { DigestVerifier } from './digest/verifier.ts';

test('guesses are answered with 429 after a while, for the account and the address they were made for', async () => {
  const key = scryptSync('right', Buffer.from('AAAA', 'base64url'), 32, { N: 2, r: 1, p: 1 });
  const passwordHash = `scrypt$N=2,r=1,p=1$AAAA$${key.toString('base64url')}`;
  const nobody = async () => undefined;
  const directory = { find: nobody, findAgent: nobody, adminHash: async () => passwordHash };
  const nonces = new Nonces(async () => randomBytes(32));
  const digest = new DigestVerifier({ directory, nonces, publicUrl: 'http://inlet.test' });
  const app = new Hono();
  app.use(requestContext(silentLogger));
  handleErrors(app);
  app.use(authenticate({ authenticator: new Authenticator(directory), digest }));
  const guess = async (username: string, address: string, password: string) => {
    const Authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
    return app.request('/', { headers: { Authorization } }, { remoteAddress: address });
  };
  for (let i = 0; i < 20; i += 1) expect((await guess('ada', '192.0.2.1', `${i}`)).status).toBe(401);
  const refused = await guess('ada', '192.0.2.1', '20');
  expect([refused.status, await refused.text()]).toEqual([429, 'Too many wrong passwords; try again later.']);
  expect(refused.headers.get('Retry-After')).toMatch(/^\d+$/);
  expect((await guess('ada', '192.0.2.2', '20')).status).toBe(401);
  expect((await guess('bob', '192.0.2.1', '20')).status).toBe(401);
});
