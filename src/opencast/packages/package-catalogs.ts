import { parseForeignAcl } from '#access/acl/foreign-acl.ts';
import type { CatalogValues } from '#metadata/catalog.ts';
import type { CatalogSet } from '#metadata/catalogs.ts';
import { readDublinCore } from '#metadata/dublincore.ts';
import { HttpError, refusal } from '#platform/http/errors/errors.ts';
import { CUTTING, InvalidCutting, parseCutting } from '#platform/media/cutting.ts';
import { quoted } from '#platform/text/excerpt.ts';
import type { XmlElement } from '#platform/text/xml.ts';
import { parseOrRefuse } from '../received-text.ts';

export const EXAMPLE_DUBLIN_CORE = `<dublincore xmlns="http://www.opencastproject.org/xsd/1.0/dublincore/" xmlns:dcterms="http://purl.org/dc/terms/"><dcterms:title>Algebra I</dcterms:title></dublincore>`;

export const EPISODE = 'dublincore/episode';
/** The access control list of an event. */
export const EPISODE_POLICY = 'security/xacml+episode';
const POLICY = /^security\/xacml(\+|$)/;
const NUL = '\0';

export const UNREADABLE_CATALOG = refusal(
  400,
  (flavor: string, reason: string) => `The catalog with flavor ${quoted(flavor)} is invalid: ${reason}.`,
  [EPISODE, 'it is not well-formed XML'],
);

/** Returns true for the flavor of an access control list, which is text however it is sent. */
export function isPolicy(flavor: string): boolean {
  return POLICY.test(flavor);
}

/** Rejects a catalog that could not be used later. @throws {HttpError} 400 */
export function checkCatalog(flavor: string, content: string, catalogs: CatalogSet): void {
  if (content.includes(NUL)) throw UNREADABLE_CATALOG(flavor, 'it contains a NUL character');
  if (isPolicy(flavor)) parseForeignAcl(content);
  else if (flavor === CUTTING) checkCutting(content);
  else if (catalogs.find(flavor)) valuesIn(flavor, content, catalogs);
}

/** Returns true if a catalog can be used later. */
export function isReadable(flavor: string, content: string, catalogs: CatalogSet): boolean {
  try {
    checkCatalog(flavor, content, catalogs);
    return true;
  } catch (error) {
    if (error instanceof HttpError) return false;
    throw error;
  }
}

function checkCutting(content: string): void {
  try {
    parseCutting(content);
  } catch (error) {
    throw error instanceof InvalidCutting ? UNREADABLE_CATALOG(CUTTING, error.message) : error;
  }
}

/** Returns the known metadata of a catalog. @throws {HttpError} 400 */
export function valuesIn(flavor: string, content: string, catalogs: CatalogSet): CatalogValues {
  const catalog = catalogs.find(flavor) ?? catalogs.common;
  const root = rootOf(flavor, content);
  const values = readDublinCore(root, catalog, (reason) => UNREADABLE_CATALOG(flavor, reason));
  if (root.name !== 'dublincore' && values.size === 0) {
    throw UNREADABLE_CATALOG(flavor, `<${root.name}> contains no Dublin Core term`);
  }
  return values;
}

/** Parses a catalog. @throws {HttpError} 400 */
export function rootOf(flavor: string, content: string): XmlElement {
  return parseOrRefuse(content, (reason) => UNREADABLE_CATALOG(flavor, reason));
}
