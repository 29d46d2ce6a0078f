import type { HttpError } from '#platform/http/errors/errors.ts';
import { InvalidXml, parseXml, type XmlElement } from '#platform/text/xml.ts';

/** Parses XML that a client sent. @throws the error that `refuse` returns */
export function parseOrRefuse(text: string, refuse: (reason: string) => HttpError): XmlElement {
  try {
    return parseXml(text);
  } catch (error) {
    throw error instanceof InvalidXml ? refuse(error.message) : error;
  }
}

/** Decodes percent-encoding. Returns invalid text unchanged. */
export function decodeUri(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The start of percent-encoded XML. */
const ENCODED = /^(?:\s|%(?:09|0A|0D|20|EF%BB%BF))*%3C/i;

/** Decodes XML that a client has percent-encoded without need. */
export function percentDecoded(text: string): string {
  return ENCODED.test(text) ? decodeUri(text).trim() : text;
}
