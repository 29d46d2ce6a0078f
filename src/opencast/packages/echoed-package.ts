import { refusal } from '#platform/http/errors/refusal.ts';
import { parseXml, XmlFault } from '#platform/text/xml.ts';

export const NO_PACKAGE = refusal(400, "Missing form parameter 'mediaPackage'");
export const UNREADABLE_PACKAGE = refusal(
  400,
  (reason: string) =>
    `The form parameter 'mediaPackage' is no media package: ${reason}. Send what the last request answered.`,
  ['it is not well-formed XML'],
);

/**
 * The identifier of the media package that a client sends back. It is all that is trusted of it: what the package holds
 * is known here. Any prefix of names will do.
 *
 * @throws {HttpError} 400
 */
export function packageIdIn(text: string | undefined): string {
  if (!text?.trim()) throw NO_PACKAGE();
  const root = rootOf(text);
  const id = root.name === 'mediapackage' ? root.attributes.get('id')?.trim() : undefined;
  if (id) return id;
  throw UNREADABLE_PACKAGE('it is no <mediapackage> with an id');
}

function rootOf(text: string) {
  try {
    return parseXml(text);
  } catch (error) {
    throw error instanceof XmlFault ? UNREADABLE_PACKAGE(error.message) : error;
  }
}
