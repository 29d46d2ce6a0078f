import type { Context } from 'hono';
import { isDatabaseOutage } from '#platform/database/outage.ts';
import { BASIC } from '../refusals.ts';
import type { DigestVerifier } from './digest/verifier.ts';

/**
 * How a request without credentials that will do may be made again: the value of `WWW-Authenticate`.
 *
 * - Programs are offered Digest and Basic. Both stand in one header, as most proxies and runtimes join them anyway, and
 *   Digest comes first, since some clients look no further.
 * - One challenge of Digest, with MD5: libcurl and python-requests take all that follows `Digest` for one list in which
 *   the last value counts. A second one with SHA-256 would be what they use, and firmware with a libcurl before 7.57
 *   cannot. Answers with SHA-256 are accepted, and whoever gave one is asked for another.
 * - Browsers are offered Basic: they would prefer Digest, which people's accounts do not have. Over plain HTTP they are known
 *   by what they accept and by their name; programs on Java accept pages, too.
 * - Whoever has just answered with a wrong digest is offered Basic, whether there is such an account or not: clients that
 *   take what is offered (`curl --anyauth`) then come with what people's accounts have.
 * - Whoever has just come with a wrong password of Basic is offered Basic, as by the reference.
 * - `X-Requested-Auth` names one of them, and is heard.
 */
export async function offer(c: Context, digest: DigestVerifier): Promise<string> {
  const asked = askedFor(c);
  if (asked !== 'digest' && (asked === 'basic' || fromBrowser(c) || hasCredentials(c))) return BASIC;
  try {
    const challenge = await digest.challenge({ algorithm: 'MD5', stale: false });
    return asked === 'digest' ? challenge : `${challenge}, ${BASIC}`;
  } catch (error) {
    if (!isDatabaseOutage(error)) throw error;
    return BASIC;
  }
}

/** The way in which a client asks to be challenged, in small letters. */
export function askedFor(c: Context): string | undefined {
  return c.req.header('X-Requested-Auth')?.trim().toLowerCase();
}

/** Over plain HTTP a browser does not say where a request comes from, but for those that change something. */
function fromBrowser(c: Context): boolean {
  const [accepts = '', name = ''] = [c.req.header('Accept'), c.req.header('User-Agent')];
  return (
    c.req.header('Sec-Fetch-Site') !== undefined ||
    c.req.header('Origin') !== undefined ||
    (/\btext\/html\b/i.test(accepts) && /^Mozilla\//i.test(name))
  );
}

function hasCredentials(c: Context): boolean {
  return /^(basic|digest)\b/i.test(c.req.header('Authorization')?.trim() ?? '');
}
