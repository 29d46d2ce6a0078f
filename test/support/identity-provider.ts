import { createServer } from 'node:http';
import { exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose';
import { listen } from './listen.ts';

export const ISSUER = 'https://id.example.org';
export const AUDIENCE = 'inlet';

/** A key pair of an identity provider. */
export interface SigningKey {
  alg: string;
  publicJwk: JWK;
  privateJwk: JWK;
  /** Signs claims; expires in five minutes unless they say otherwise. */
  sign(claims?: JWTPayload, header?: { alg?: string; kid?: string }): Promise<string>;
}

export async function signingKey(alg = 'ES256', kid = `${alg}-1`): Promise<SigningKey> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  return {
    alg,
    publicJwk: { ...(await exportJWK(publicKey)), kid },
    privateJwk: { ...(await exportJWK(privateKey)), kid },
    sign: (claims = {}, header = {}) =>
      new SignJWT(goodClaims(claims)).setProtectedHeader({ alg, kid, ...header }).sign(privateKey),
  };
}

/** Claims of a token that is let in, and the given ones over them; undefined leaves a claim out. */
export function goodClaims(claims: JWTPayload = {}): JWTPayload {
  const exp = Math.floor(Date.now() / 1000) + 300;
  return { iss: ISSUER, aud: AUDIENCE, sub: 'grace', exp, ...claims };
}

/** A server of key sets on this machine. */
export interface KeySetServer {
  url: string;
  keys: JWK[];
  /** How often the keys were fetched. */
  fetches: number;
  close(): Promise<void>;
}

export async function serveKeys(...keys: JWK[]): Promise<KeySetServer> {
  const server = createServer((_request, response) => {
    handle.fetches += 1;
    response.setHeader('Content-Type', 'application/json').end(JSON.stringify({ keys: handle.keys }));
  });
  const handle: KeySetServer = {
    url: `${await listen(server)}/keys`,
    keys,
    fetches: 0,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return handle;
}
