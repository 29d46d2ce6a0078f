import type { Context, MiddlewareHandler } from 'hono';
import type { SqlBool } from 'kysely';
import { anonymous } from '#access/principal.ts';
import type { Database } from '#platform/database/kysely.ts';
import { remoteAddress } from '#platform/http/server/client-address.ts';
import { findReadAccess } from './publication.queries.ts';
import type { PublicationAddresses } from './publication-json.ts';
import { hasSignature, isRefusal, type Policy, type Refusal } from './signing/url-signer.ts';

/** The read access to a publication, by the effective access control list of its event. */
export interface ReadAccess {
  /** True if visitors without an account may. */
  is_public: SqlBool;
  /** True if the principal of the request may. */
  is_readable: SqlBool;
}

/** A request for the page or a file of a publication. */
interface Visit {
  /** The whole public URL, with its signature. */
  url: string;
  /** The client's IP address. */
  client: string;
  /** Undefined without an account. */
  account: string | undefined;
  isFile: boolean;
}

/** Describes a request. Its URL has the public name of this server, since a proxy may use another one. */
export function visitOf(c: Context, { publicUrl }: PublicationAddresses, { isFile }: Pick<Visit, 'isFile'>): Visit {
  const { pathname, search } = new URL(c.req.url);
  return { url: `${publicUrl}${pathname}${search}`, client: remoteAddress(c), account: c.get('account'), isFile };
}

/** The reason why a request is admitted: its signature, the access control list, or the setting. */
export type Grant = { by: 'everyone' | 'reader' | 'link' } | { by: 'signature'; policy: Policy };

/** The reason why a request is not admitted. */
export type Denial = Refusal | { status: 401 | 403; sentence: string };

/** The decision about a request for something that exists. */
export type Admission<Found> = { found: Found; grant: Grant } | { found?: undefined; denial: Denial };

const NEEDS_ACCOUNT = { status: 401, sentence: 'Sign in to watch this recording.' } as const;
export const NO_READ_ACCESS = { status: 403, sentence: 'This account may not watch this recording.' } as const;

/**
 * Decides on a request by `WATCH_ACCESS`, or by its signature alone where every address must be signed. Then only a
 * client with a signature learns whether something exists.
 *
 * @param find reads what is requested
 * @returns undefined if it does not exist
 */
export async function admit<Found extends ReadAccess>(
  visit: Visit,
  { access, signer }: PublicationAddresses,
  find: () => Promise<Found | undefined>,
): Promise<Admission<Found> | undefined> {
  const isSigned = access === 'signed' || hasSignature(visit.url);
  const signature = isSigned ? signer?.verify(visit.url, visit.client) : undefined;
  if (access === 'signed' && (!signature || isRefusal(signature))) return { denial: signature ?? NEEDS_ACCOUNT };
  const found = await find();
  if (!found) return undefined;
  const reason = access === 'signed' ? undefined : unsignedGrant(found, access, visit);
  if (reason) return { found, grant: { by: reason } };
  if (signature)
    return isRefusal(signature) ? { denial: signature } : { found, grant: { by: 'signature', policy: signature } };
  return { denial: visit.account === undefined ? NEEDS_ACCOUNT : NO_READ_ACCESS };
}

function unsignedGrant(
  { is_public, is_readable }: ReadAccess,
  access: 'page' | 'strict' | 'link',
  { isFile, account }: Visit,
): 'everyone' | 'reader' | 'link' | undefined {
  // With an account, the list has changed since the request was authenticated: its answer may renew a session.
  if (is_public) return account === undefined ? 'everyone' : 'reader';
  if (access === 'link' || (access === 'page' && isFile)) return 'link';
  return is_readable ? 'reader' : undefined;
}

/**
 * Authenticates requests that the access control list of a recording decides on. Other requests stay anonymous, so that
 * their responses hold nothing of a session and caches may share them.
 */
export function authenticateReaders(
  authenticate: MiddlewareHandler,
  { database, addresses: { access } }: { database: Database; addresses: PublicationAddresses },
): MiddlewareHandler {
  return async (c, next) => {
    const [, kind, publicationId = ''] = c.req.path.split('/');
    const isDecidedByList = access === 'strict' || (access === 'page' && kind !== 'publications');
    const readAccess = isDecidedByList ? await findReadAccess(database, publicationId, anonymous) : undefined;
    if (readAccess && !readAccess.is_public) return authenticate(c, next);
    c.set('principal', anonymous);
    await next();
  };
}
