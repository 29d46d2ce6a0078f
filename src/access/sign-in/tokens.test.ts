import { createLocalJWKSet, exportSPKI, importJWK, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose';
import { beforeAll, describe, expect, test } from 'vitest';
import { goodClaims, type SigningKey, signingKey } from '../../../test/support/identity-provider.ts';
import { KeysUnavailable } from './key-set.ts';
import { type TokenOptions, TokenVerifier } from './tokens.ts';

const CLAIMS = { username: 'sub', roles: 'roles' };
let keys: SigningKey[];
let key: SigningKey;
beforeAll(async () => {
  keys = await Promise.all(['ES256', 'RS256', 'EdDSA', 'PS512'].map((alg) => signingKey(alg)));
  key = keys[0] as SigningKey;
});

/** A verifier that counts how often a key was asked for. */
function verifier(options: Partial<TokenOptions> = {}, now?: () => number) {
  const find = createLocalJWKSet({ keys: keys.map(({ publicJwk }) => publicJwk) });
  const built = new TokenVerifier(
    {
      keys: (...token) => {
        counted.asked += 1;
        return find(...token);
      },
      issuer: 'https://id.example.org',
      audience: 'inlet',
      claims: CLAIMS,
      heldBy: async () => undefined,
      ...options,
    },
    now,
  );
  const counted = { asked: 0, ask: (token: string) => built.authenticate(token) };
  return counted;
}

const refused = (message: string | RegExp) => ({
  status: 401,
  message: typeof message === 'string' ? message : expect.stringMatching(message),
  headers: { 'WWW-Authenticate': 'Bearer realm="Opencast", error="invalid_token"' },
});

test.each([0, 1, 2, 3])('a token of each kind of key pair is let in (%i)', async (index) => {
  const token = await keys[index]?.sign({ roles: ['ROLE_X'], name: 'Grace H.', email: 'g@example.org' });
  const principal = await verifier().ask(token ?? '');
  expect(principal).toMatchObject({
    username: 'grace',
    name: 'Grace H.',
    email: 'g@example.org',
    provider: 'jwt',
  });
  expect([...principal.roles]).toEqual(['ROLE_X', 'ROLE_USER', 'ROLE_USER_GRACE', 'ROLE_ANONYMOUS']);
  expect(principal.isAdmin()).toBe(false);
});

test('a token that does not name its key is verified with each that fits', async () => {
  const second = await signingKey('ES256', 'second');
  const find = createLocalJWKSet({ keys: [key.publicJwk, second.publicJwk] });
  const stranger = await signingKey('ES256');
  const counted = verifier({ keys: find });
  for (const own of [key, second]) {
    expect(await counted.ask(await own.sign({}, { kid: undefined }))).toMatchObject({ username: 'grace' });
  }
  for (const [by, claims, message] of [
    [stranger, {}, 'The token is not valid.'],
    [second, { exp: 1 }, 'The token has expired.'],
  ] as const) {
    await expect(counted.ask(await by.sign(claims, { kid: undefined }))).rejects.toMatchObject(
      refused(message),
    );
  }
});

describe('a token is refused', () => {
  const seconds = Math.floor(Date.now() / 1000);
  test.each<[string, JWTPayload, string]>([
    ['that has expired', { exp: seconds - 60 }, 'The token has expired.'],
    [
      'that never expires',
      { exp: undefined },
      "The claim 'exp' of the token is missing or not what it has to be.",
    ],
    [
      'of another issuer',
      { iss: 'https://evil.example' },
      "The claim 'iss' of the token is missing or not what it has to be.",
    ],
    [
      'without an issuer',
      { iss: undefined },
      "The claim 'iss' of the token is missing or not what it has to be.",
    ],
    [
      'for somebody else',
      { aud: ['wiki'] },
      "The claim 'aud' of the token is missing or not what it has to be.",
    ],
    ['for nobody', { aud: undefined }, "The claim 'aud' of the token is missing or not what it has to be."],
    [
      'that is not valid yet',
      { nbf: seconds + 600 },
      "The claim 'nbf' of the token is missing or not what it has to be.",
    ],
    ['without a user name', { sub: undefined }, 'The token holds no user name that can be used.'],
    [
      'whose user name is a number',
      { sub: 7 as unknown as string },
      'The token holds no user name that can be used.',
    ],
    ['of anonymous', { sub: 'anonymous' }, 'The token holds no user name that can be used.'],
    ['with NUL in the user name', { sub: 'a\0b' }, 'The token holds no user name that can be used.'],
    [
      'with half a character in the user name',
      { sub: 'a\ud800' },
      'The token holds no user name that can be used.',
    ],
  ])('%s', async (_name, claims, message) => {
    await expect(verifier().ask(await key.sign(claims))).rejects.toMatchObject(refused(message));
  });

  test('signed by a key that is not in the set, under the name of one that is', async () => {
    const stranger = await signingKey('ES256');
    await expect(verifier().ask(await stranger.sign())).rejects.toMatchObject(
      refused('The token is not valid.'),
    );
    const unknown = await (await signingKey('ES256', 'other')).sign();
    await expect(verifier().ask(unknown)).rejects.toMatchObject(refused('The token is not valid.'));
  });

  test('that nobody signed', async () => {
    const token = new UnsecuredJWT(goodClaims({ roles: ['ROLE_ADMIN'] })).encode();
    await expect(verifier().ask(token)).rejects.toMatchObject(refused('The token is not valid.'));
    const [, payload] = token.split('.');
    const header = Buffer.from(JSON.stringify({ alg: 'none', kid: 'ES256-1' })).toString('base64url');
    await expect(verifier().ask(`${header}.${payload}.`)).rejects.toMatchObject(
      refused('The token is not valid.'),
    );
  });

  test('signed with a public key as if it were a shared secret', async () => {
    const rsa = keys[1] as SigningKey;
    const publicKey = await importJWK(rsa.publicJwk, 'RS256', { extractable: true });
    if (publicKey instanceof Uint8Array) throw new Error('not a public key');
    for (const secret of [
      await exportSPKI(publicKey),
      JSON.stringify(rsa.publicJwk),
      rsa.publicJwk.n ?? '',
    ]) {
      const token = await new SignJWT(goodClaims({ roles: ['ROLE_ADMIN'] }))
        .setProtectedHeader({ alg: 'HS256', kid: 'RS256-1' })
        .sign(new TextEncoder().encode(secret.padEnd(64, '\n')));
      await expect(verifier().ask(token)).rejects.toMatchObject(refused('The token is not valid.'));
      // Nothing of it gets as far as a key, even if the resolver would hand one out.
      const handsOut = { keys: async () => new TextEncoder().encode(secret.padEnd(64, '\n')) };
      await expect(verifier(handsOut).ask(token)).rejects.toMatchObject(refused('The token is not valid.'));
    }
  });

  test('whose claims were changed after it was signed', async () => {
    const [header, , signature] = (await key.sign()).split('.');
    const claims = Buffer.from(JSON.stringify(goodClaims({ roles: ['ROLE_ADMIN'] }))).toString('base64url');
    const token = `${header}.${claims}.${signature}`;
    await expect(verifier().ask(token)).rejects.toMatchObject(refused('The token is not valid.'));
  });

  test.each(['', 'x', 'a.b.c', '..', 'e30.e30.e30', '\u00e9.\u00e9.\u00e9', 'a'.repeat(10_000)])(
    'that is none: %j',
    async (token) => {
      await expect(verifier().ask(token)).rejects.toMatchObject(refused('The token is not valid.'));
    },
  );

  test('whose user name is somebody else’s', async () => {
    const holders = new Map([
      ['Grace', 'account'],
      ['HOPPER', 'user'],
    ] as const);
    const counted = verifier({ heldBy: async (username) => holders.get(username as 'Grace') });
    await expect(counted.ask(await key.sign({ sub: 'Grace' }))).rejects.toMatchObject(
      refused('The user name in the token belongs to an account of this server.'),
    );
    await expect(counted.ask(await key.sign({ sub: 'HOPPER' }))).rejects.toMatchObject(
      refused('Another user has the user name in the token, with other letters in upper case.'),
    );
    expect(await counted.ask(await key.sign({ sub: 'hopper' }))).toMatchObject({ username: 'hopper' });
  });
});

test('a token is verified once a minute, and not let in a moment longer than it is valid', async () => {
  const start = Date.now();
  let now = start;
  const counted = verifier({}, () => now);
  const token = await key.sign({ exp: Math.floor(start / 1000) + 90 });
  for (const ms of [0, 1, 59_000]) {
    now = start + ms;
    await counted.ask(token);
  }
  expect(counted.asked).toBe(1);
  now = start + 60_000;
  await counted.ask(token);
  expect(counted.asked).toBe(2);
  now = start + 100_000;
  await expect(counted.ask(token)).rejects.toMatchObject(refused('The token has expired.'));
});

test('a refused token leaves nothing behind that lets it in', async () => {
  let holder: 'account' | undefined = 'account';
  const counted = verifier({ heldBy: async () => holder });
  const token = await key.sign();
  await expect(counted.ask(token)).rejects.toMatchObject({ status: 401 });
  holder = undefined;
  expect(await counted.ask(token)).toMatchObject({ username: 'grace' });
});

test('a key that cannot be used is a fault of the server, not of the token', async () => {
  const keys = async () => {
    throw new KeysUnavailable('nobody answers');
  };
  await expect(verifier({ keys }).ask(await key.sign())).rejects.toBeInstanceOf(KeysUnavailable);
});
