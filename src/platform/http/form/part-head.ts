import { parseParameters } from './parameters.ts';

/** What the head of a part says. */
export interface PartHead {
  /** Of the form field. */
  name: string;
  /** As it was sent; undefined for a part that does not claim to be a file. */
  filename: string | undefined;
  /** In lower case, without parameters; empty when it is not said. */
  type: string;
  /** Of a text. */
  charset: string | undefined;
}

const LINE = /^([!#$%&'*+\-.^_`|~\w]+):[ \t]*(.*)$/s;
const FOLD = /\r\n[ \t]+/g;

/** Reads the head of a part of a form, in UTF-8. @returns undefined for what is none */
export function parsePartHead(bytes: Uint8Array): PartHead | undefined {
  const headers = new Map<string, string>();
  for (const line of new TextDecoder().decode(bytes).replace(FOLD, ' ').split('\r\n')) {
    const [, name, value] = LINE.exec(line) ?? [];
    if (name === undefined || value === undefined) return undefined;
    if (!headers.has(name.toLowerCase())) headers.set(name.toLowerCase(), value);
  }
  const disposition = parseParameters(headers.get('content-disposition') ?? '');
  const contentType = parseParameters(headers.get('content-type') ?? '');
  const { name, filename, 'filename*': extended } = disposition?.parameters ?? {};
  if (disposition?.value !== 'form-data' || name === undefined) return undefined;
  return {
    name,
    filename: decodeExtended(extended) ?? filename ?? extended,
    type: contentType?.value ?? '',
    charset: contentType?.parameters.charset,
  };
}

/** The name that a broken head seems to give, for a sentence about it. */
export function guessPartName(bytes: Uint8Array): string | undefined {
  return /[;\s]name="([^"\r\n]{1,100})"/i.exec(new TextDecoder().decode(bytes))?.[1];
}

/** A value such as `UTF-8''na%C3%AFve.mp4`; undefined for what is none. */
function decodeExtended(value = ''): string | undefined {
  const [, charset, encoded] = /^([\w-]+)'[^']*'(.*)$/s.exec(value) ?? [];
  if (charset === undefined || encoded === undefined) return undefined;
  const bytes = encoded.replace(/%([\da-f]{2})/gi, (_, code) => String.fromCharCode(Number.parseInt(code, 16)));
  return decode(Buffer.from(bytes, 'latin1'), charset);
}

/** Text in a character set that clients name; undefined for an unknown one. */
export function decode(bytes: Uint8Array, charset: string): string | undefined {
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return undefined;
  }
}
