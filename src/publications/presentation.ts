import { type ApiVersion, atLeast } from '#platform/http/answer/version.ts';
import { type Presentation, publicationJson } from './json.ts';
import { INTERNAL_CHANNEL, type Publication } from './model.ts';
import type { PublicationQuery, PublicationsQuery } from './query.schemas.ts';
import type { UrlSigner } from './signing/url-signer.ts';
import { PUBLICATION_CHANGES } from './versions.ts';

/** What the application knows of the addresses of publications. */
export interface PublicationAddresses {
  /** Base of the URLs, without a slash at its end. */
  publicUrl: string;
  /** Absent when addresses are not signed. */
  signer?: UrlSigner | undefined;
}

/** What a request asks for. */
interface PublicationRequest<Q extends PublicationQuery> {
  version: ApiVersion;
  query: Q;
}

/** How to show a single publication: with signed addresses when the request wants them and Inlet signs. */
export function presentationOf(
  { version, query }: PublicationRequest<PublicationQuery>,
  { publicUrl, signer }: PublicationAddresses,
): Presentation {
  if (!signer || !query.sign) return { publicUrl, version };
  const validUntil = signer.defaultEnd();
  return { publicUrl, version, sign: (url) => signer.sign(url, { validUntil }) };
}

/** A list of publications in JSON. The internal one is there only for those who ask for it. */
export function publicationsJson(
  publications: readonly Publication[],
  request: PublicationRequest<PublicationsQuery>,
  addresses: PublicationAddresses,
) {
  const presentation = presentationOf(request, addresses);
  const internal =
    request.query.includeInternalPublication &&
    atLeast(request.version, PUBLICATION_CHANGES.includeInternalPublication);
  return publications
    .filter(({ channel }) => internal || channel !== INTERNAL_CHANNEL)
    .map((publication) => publicationJson(publication, presentation));
}

/** Whether a publication can be had by its identifier: the internal one only where the version shows it. */
export function isAddressable({ channel }: Pick<Publication, 'channel'>, version: ApiVersion): boolean {
  return channel !== INTERNAL_CHANNEL || atLeast(version, PUBLICATION_CHANGES.internalById);
}
