import type { Context } from 'hono';
import { elementUrl, type PublicationElement, watchUrl } from '#publications/publication.ts';
import type { PublicationAddresses } from '#publications/publication-json.ts';

/** Returns the relative URL of the server's root, with a final slash. It is valid behind any proxy name and path. */
export function rootFrom(c: Context): string {
  const { pathname } = new URL(c.req.url);
  return '../'.repeat(pathname.split('/').length - 2) || './';
}

/** Returns a path of this server relative to this request. */
export function relativeTo(c: Context, path: string): string {
  return rootFrom(c) + path.slice(1);
}

/** Returns the URL of a file of a publication, relative to the page. */
export type FileAddress = (element: Pick<PublicationElement, 'publication_id' | 'id' | 'filename'>) => string;

/**
 * Returns functions for the URLs of publications, relative to the page.
 *
 * @param terms.isSigned true to sign them; by default where every address must be signed
 * @param terms.extraMs the time for which signed URLs are valid in addition to the usual time
 * @param terms.source the only IP address that may use signed URLs
 */
export function publicationLinks(
  c: Context,
  { publicUrl, signer, access }: PublicationAddresses,
  {
    isSigned = access === 'signed',
    extraMs = 0,
    source,
  }: { isSigned?: boolean; extraMs?: number; source?: string | undefined } = {},
): { element: FileAddress; watch(publicationId: string): string } {
  const root = rootFrom(c);
  const terms = { validUntil: (signer?.defaultEnd() ?? 0) + extraMs, source };
  const signed = (url: string) => (signer && isSigned ? signer.sign(url, terms) : url);
  const relative = (url: string) => root + signed(url).slice(publicUrl.length + 1);
  return {
    element: (element) => relative(elementUrl(publicUrl, element)),
    watch: (publicationId) => relative(watchUrl(publicUrl, publicationId)),
  };
}
