import { type ApiVersion, atLeast } from '#platform/http/answer/version.ts';
import { type Presentation, publicationJson } from './json.ts';
import { INTERNAL_CHANNEL, type Publication } from './model.ts';
import type { PublicationQuery, PublicationsQuery } from './query.schemas.ts';
import type { UrlSigner } from './signing/url-signer.ts';
import { PUBLICATION_CHANGES } from './versions.ts';

/** The configuration of the addresses of publications. */
export interface PublicationAddresses {
  /** The base of URLs, without a slash at its end. */
  publicUrl: string;
  /** Undefined when addresses are not signed. */
  signer?: UrlSigner | undefined;
}

interface PublicationRequest<Q extends PublicationQuery> {
  version: ApiVersion;
  query: Q;
}

/**
 * Returns how to present publications to a request: with signed addresses if it asks for them and signing is
 * configured.
 */
export function presentationOf(
  { version, query }: PublicationRequest<PublicationQuery>,
  { publicUrl, signer }: PublicationAddresses,
): Presentation {
  if (!signer || !query.sign) return { publicUrl, version };
  const validUntil = signer.defaultEnd();
  return { publicUrl, version, sign: (url) => signer.sign(url, { validUntil }) };
}

/** Returns the JSON of publications, without the internal one unless the request asks for it. */
export function publicationsJson(
  publications: readonly Publication[],
  request: PublicationRequest<PublicationsQuery>,
  addresses: PublicationAddresses,
) {
  const { version, query } = request;
  const presentation = presentationOf(request, addresses);
  const internal = query.includeInternalPublication && atLeast(version, PUBLICATION_CHANGES.includeInternalPublication);
  return publications
    .filter(({ channel }) => internal || channel !== INTERNAL_CHANNEL)
    .map((publication) => publicationJson(publication, presentation));
}

/** Returns true if a publication can be read by its identifier. The internal one requires a newer version. */
export function isAddressable({ channel }: Pick<Publication, 'channel'>, version: ApiVersion): boolean {
  return channel !== INTERNAL_CHANNEL || atLeast(version, PUBLICATION_CHANGES.internalById);
}
