import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createLocalJWKSet, exportSPKI, importJWK, type JWTPayload, jwtVerify, SignJWT, UnsecuredJWT } from 'jose';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { ConfigError } from '#platform/setting/value-kinds.ts';
import { temporaryFolder } from '#test/support/folders.ts';
import { goodClaims, type SigningKey, serveKeys, signingKey } from '#test/support/identity-provider.ts';
import {
  grantedRoles,
  KeysUnavailable,
  openKeySet,
  type TokenOptions,
  TokenVerifier,
  tokenPrincipal,
} from './tokens.ts';

const keys = await Promise.all(['ES256', 'RS256', 'EdDSA', 'PS512'].map((alg) => signingKey(alg)));
const [key, rsa] = keys as [SigningKey, SigningKey];
const second = await signingKey('ES256', 'second');
const INVALID = 'The token is not valid.';
const NO_NAME = 'The token has no valid user name.';

/** A verifier that counts how often a key was asked for. */
function verifier(options: Partial<TokenOptions> = {}, now?: () => number) {
  const find = createLocalJWKSet({ keys: keys.map(({ publicJwk }) => publicJwk) });
  const built = new TokenVerifier(
    {
      keys: (...token) => {
        counted.asked += 1;
        return find(...token);
      },
      ...{ issuer: 'https://id.example.org', audience: 'inlet', heldBy: async () => undefined },
      claims: { username: 'sub', roles: 'roles' },
      ...options,
    },
    now,
  );
  const counted = { asked: 0, ask: (token: string) => built.authenticate(token) };
  return counted;
}

const expectRefused = (token: string, message = INVALID, { ask } = verifier()) =>
  expect(ask(token)).rejects.toMatchObject({
    ...{
      status: 401,
      message,
      headers: { 'WWW-Authenticate': 'Bearer realm="Opencast", error="invalid_token"' },
    },
  });

describe('a token', () => {
  test.each([0, 1, 2, 3])('of each kind of key pair is let in (%i)', async (index) => {
    const facts = { name: 'Grace H.', email: 'g@example.org' };
    const principal = await verifier().ask((await keys[index]?.sign({ roles: ['ROLE_X'], ...facts })) ?? '');
    expect(principal).toMatchObject({ username: 'grace', provider: 'jwt', ...facts });
    expect([...principal.roles]).toEqual(['ROLE_X', 'ROLE_USER', 'ROLE_USER_GRACE', 'ROLE_ANONYMOUS']);
    expect(principal.isAdmin()).toBe(false);
  });

  test('that does not name its key is verified with each that fits', async () => {
    const both = verifier({ keys: createLocalJWKSet({ keys: [key.publicJwk, second.publicJwk] }) });
    const unnamed = (by: SigningKey, claims = {}) => by.sign(claims, { kid: undefined });
    for (const own of [key, second]) expect(await both.ask(await unnamed(own))).toMatchObject({ username: 'grace' });
    await expectRefused(await unnamed(await signingKey('ES256')), INVALID, both);
    await expectRefused(await unnamed(second, { exp: 1 }), 'The token has expired.', both);
  });

  test('is verified once a minute, and not let in a moment longer than it is valid', async () => {
    const start = Date.now();
    let now = start;
    const counted = verifier({}, () => now);
    const token = await key.sign({ exp: Math.floor(start / 1000) + 90 });
    for (const [ms, asked] of [
      [0, 1],
      [1, 1],
      [59_000, 1],
      [60_000, 2],
    ] as const) {
      now = start + ms;
      await counted.ask(token);
      expect([ms, counted.asked]).toEqual([ms, asked]);
    }
    now = start + 100_000;
    await expectRefused(token, 'The token has expired.', counted);
  });

  test('that was refused leaves nothing behind that lets it in', async () => {
    let holder: 'account' | undefined = 'account';
    const counted = verifier({ heldBy: async () => holder });
    const token = await key.sign();
    await expect(counted.ask(token)).rejects.toMatchObject({ status: 401 });
    holder = undefined;
    expect(await counted.ask(token)).toMatchObject({ username: 'grace' });
  });

  test('is not at fault for a key that cannot be used', async () => {
    const broken = async () => {
      throw new KeysUnavailable('nobody answers');
    };
    await expect(verifier({ keys: broken }).ask(await key.sign())).rejects.toBeInstanceOf(KeysUnavailable);
  });
});

describe('a token is refused', () => {
  const seconds = Math.floor(Date.now() / 1000);
  const wrong = (claim: string) => `The claim '${claim}' of the token is missing or invalid.`;
  test.each<[string, Record<string, unknown>, string]>([
    ['that has expired', { exp: seconds - 60 }, 'The token has expired.'],
    ['that never expires', { exp: undefined }, wrong('exp')],
    ['of another issuer', { iss: 'https://evil.example' }, wrong('iss')],
    ['without an issuer', { iss: undefined }, wrong('iss')],
    ['for somebody else', { aud: ['wiki'] }, wrong('aud')],
    ['for nobody', { aud: undefined }, wrong('aud')],
    ['that is not valid yet', { nbf: seconds + 600 }, wrong('nbf')],
    ['without a user name', { sub: undefined }, NO_NAME],
    ['whose user name is a number', { sub: 7 }, NO_NAME],
    ['of anonymous', { sub: 'anonymous' }, NO_NAME],
    ['with NUL in the user name', { sub: 'a\0b' }, NO_NAME],
    ['with half a character in the user name', { sub: 'a\ud800' }, NO_NAME],
  ])('%s', async (_name, claims, message) => {
    await expectRefused(await key.sign(claims as JWTPayload), message);
  });

  test('signed by a key that is not in the set, under the name of one that is', async () => {
    for (const stranger of [await signingKey('ES256'), await signingKey('ES256', 'other')])
      await expectRefused(await stranger.sign());
  });

  const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const admin = goodClaims({ roles: ['ROLE_ADMIN'] });

  test('that nobody signed', async () => {
    const token = new UnsecuredJWT(admin).encode();
    await expectRefused(token);
    await expectRefused(`${encoded({ alg: 'none', kid: 'ES256-1' })}.${token.split('.')[1]}.`);
  });

  test('signed with a public key as if it were a shared secret', async () => {
    const publicKey = await importJWK(rsa.publicJwk, 'RS256', { extractable: true });
    if (publicKey instanceof Uint8Array) throw new Error('not a public key');
    for (const text of [await exportSPKI(publicKey), JSON.stringify(rsa.publicJwk), rsa.publicJwk.n ?? '']) {
      const secret = new TextEncoder().encode(text.padEnd(64, '\n'));
      const token = await new SignJWT(admin).setProtectedHeader({ alg: 'HS256', kid: 'RS256-1' }).sign(secret);
      await expectRefused(token);
      // Nothing of it gets as far as a key, even if the resolver would hand one out.
      await expectRefused(token, INVALID, verifier({ keys: async () => secret }));
    }
  });

  test('whose claims were changed after it was signed', async () => {
    const [header, , signature] = (await key.sign()).split('.');
    await expectRefused(`${header}.${encoded(admin)}.${signature}`);
  });

  test.each(['', 'x', 'a.b.c', '..', 'e30.e30.e30', '\u00e9.\u00e9.\u00e9', 'a'.repeat(10_000)])(
    'that is none: %j',
    (token) => expectRefused(token),
  );

  test.each([
    ['Grace', 'account', 'The user name in the token belongs to a local account.'],
    ['HOPPER', 'user', 'The user name in the token differs only in case from that of another user.'],
  ] as const)('whose user name is somebody else’s: %s', async (sub, kind, message) => {
    const holders = verifier({ heldBy: async (username) => (username === sub ? kind : undefined) });
    await expectRefused(await key.sign({ sub }), message, holders);
    expect(await holders.ask(await key.sign({ sub: 'hopper' }))).toMatchObject({ username: 'hopper' });
  });
});

describe('the claim', () => {
  const names = { username: 'sub', roles: 'roles' };
  const roles = (payload: Record<string, unknown>, name: string) => {
    const principal = tokenPrincipal({ sub: 'ada', ...payload }, { username: 'sub', roles: name });
    return [...(principal?.roles ?? [])].filter((role) => !/^ROLE_(USER|ANONYMOUS)/.test(role));
  };

  test.each<[unknown, string[]]>([
    [
      ['A', 'B', 'A'],
      ['A', 'B'],
    ],
    ['ROLE_A ROLE_B, ROLE_C,,', ['ROLE_A', 'ROLE_B', 'ROLE_C']],
    ...['', [], undefined, null, 7, true].map((none): [unknown, string[]] => [none, []]),
    [{ ROLE_ADMIN: true, 0: 'ROLE_ADMIN', length: 1 }, []],
    [[['ROLE_ADMIN'], { toString: 'ROLE_ADMIN' }, 1, null, 'ROLE_A'], ['ROLE_A']],
    [['a\0b', 'a b', 'a,ROLE_ADMIN', 'a\ud800', ''], []],
  ])('%j grants %j', (value, granted) => {
    expect(grantedRoles(value)).toEqual(granted);
  });

  test('may be nested, and its name may hold dots', () => {
    const nested = { realm_access: { roles: ['ROLE_A'] } };
    const dotted = 'https://id.example/roles';
    expect(roles(nested, 'realm_access.roles')).toEqual(['ROLE_A']);
    expect(roles({ [dotted]: 'ROLE_B' }, dotted)).toEqual(['ROLE_B']);
    for (const name of ['', '.roles.0', '.constructor.name'].map((rest) => `realm_access${rest}`))
      expect([name, roles(nested, name)]).toEqual([name, []]);
    expect(roles(nested, 'constructor')).toEqual([]);
  });

  test('that says so makes an administrator, and no other', () => {
    expect(tokenPrincipal({ sub: 'admin', groups: ['ROLE_ADMIN'] }, names)?.isAdmin()).toBe(false);
    const admin = tokenPrincipal({ sub: 'ada', roles: 'ROLE_ADMIN' }, names);
    expect([admin?.isAdmin(), admin?.hasRole('ROLE_API_EVENTS_CREATE')]).toEqual([true, true]);
  });

  test('is left out where it cannot be stored', () => {
    const payload = { sub: 'ada', name: 'A\0', email: ['a@example.org'] };
    expect(tokenPrincipal(payload, names)).toMatchObject({ name: '', email: '' });
  });
});

describe('a key set', () => {
  afterEach(() => vi.useRealTimers());

  async function fileOf(content: unknown): Promise<string> {
    const path = join(await temporaryFolder(), 'keys.json');
    await writeFile(path, JSON.stringify(content) ?? '{');
    return path;
  }
  async function serverOf(...jwks: Parameters<typeof serveKeys>) {
    const server = await serveKeys(...jwks);
    onTestFinished(() => server.close());
    return server;
  }

  test('may be in a file', async () => {
    const find = await openKeySet(await fileOf({ keys: [key.publicJwk, second.publicJwk] }));
    expect((await jwtVerify(await second.sign(), find)).payload.sub).toBe('grace');
  });

  const SECRET = 'contains a private or symmetric key; only public keys are allowed';
  test.each<[string, unknown, string]>([
    ['no JSON', undefined, 'is not valid JSON'],
    ['no key set', { kty: 'EC' }, 'is not a JSON Web Key Set'],
    ['an empty key set', { keys: [] }, 'is not a JSON Web Key Set'],
    ['null', null, 'is not a JSON Web Key Set'],
    ['keys that are none', { keys: ['x'] }, 'is not a JSON Web Key Set'],
    ['a private key', { keys: [key.privateJwk] }, SECRET],
    ['a shared key', { keys: [{ kty: 'oct', k: 'AAAA' }] }, SECRET],
  ])('in a file with %s stops the start', async (_name, content, reason) => {
    const path = await fileOf(content);
    await expect(openKeySet(path)).rejects.toThrow(
      new ConfigError(`JWT_JWKS is ${JSON.stringify(path)}, but the file ${reason}.`),
    );
    await expect(openKeySet(`${path}.none`)).rejects.toThrow('but the file cannot be read.');
  });

  test('of a server is fetched once, and again when a token names an unknown one', async () => {
    const server = await serverOf(key.publicJwk);
    const find = await openKeySet(server.url);
    const unmatched = { code: 'ERR_JWKS_NO_MATCHING_KEY' };
    const tokens = await Promise.all([key.sign(), key.sign({ sub: 'ada' })]);
    for (const token of tokens) await jwtVerify(token, find);
    expect(server.fetches).toBe(1);
    server.keys = [second.publicJwk];
    const rotated = await second.sign();
    // Not at once: unknown keys in forged tokens must not make this server ask without end.
    await expect(jwtVerify(rotated, find)).rejects.toMatchObject(unmatched);
    expect(server.fetches).toBe(1);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 31_000 });
    await jwtVerify(rotated, find);
    expect(server.fetches).toBe(2);
    await expect(jwtVerify(tokens[0] ?? '', find)).rejects.toMatchObject(unmatched);
  });

  test('of a server that is down, or serves none, is not the fault of the token', async () => {
    const down = await serveKeys(key.publicJwk);
    await down.close();
    const odd = await serverOf('x' as never);
    const token = await key.sign();
    for (const { url } of [down, odd])
      await expect(jwtVerify(token, await openKeySet(url))).rejects.toBeInstanceOf(KeysUnavailable);
  });
});
