import { parseParameters } from './parameters.ts';

export interface PartHead {
  name: string;
  /** As sent; undefined for a part that is not declared as a file. */
  filename: string | undefined;
  /** In lower case, without parameters; may be empty. */
  type: string;
  charset: string | undefined;
}

const LINE = /^([!#$%&'*+\-.^_`|~\w]+):[ \t]*(.*)$/s;
const FOLD = /\r\n[ \t]+/g;

/** Parses the head of a part in UTF-8; undefined if it is malformed. */
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

/** Returns the likely name in a malformed head, for the error message. */
export function guessPartName(bytes: Uint8Array): string | undefined {
  return /[;\s]name="([^"\r\n]{1,100})"/i.exec(new TextDecoder().decode(bytes))?.[1];
}

/** Decodes a value such as `UTF-8''na%C3%AFve.mp4`; undefined if it is malformed. */
function decodeExtended(value = ''): string | undefined {
  const [, charset, encoded] = /^([\w-]+)'[^']*'(.*)$/s.exec(value) ?? [];
  if (charset === undefined || encoded === undefined) return undefined;
  const bytes = encoded.replace(/%([\da-f]{2})/gi, (_, code) => String.fromCharCode(Number.parseInt(code, 16)));
  return decode(Buffer.from(bytes, 'latin1'), charset);
}

/** Decodes text; undefined for an unknown character set. */
export function decode(bytes: Uint8Array, charset: string): string | undefined {
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return undefined;
  }
}
