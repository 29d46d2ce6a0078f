export type PartHead = NonNullable<ReturnType<typeof parsePartHead>>;

const LINE = /^([!#$%&'*+\-.^_`|~\w]+):[ \t]*(.*)$/s;
const FOLD = /\r\n[ \t]+/g;

/** Parses the head of a part in UTF-8; undefined if it is malformed. */
export function parsePartHead(bytes: Uint8Array) {
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
    /** As sent; undefined for a part that is not declared as a file. */
    filename: decodeExtended(extended) ?? filename ?? extended,
    /** In lower case, without parameters; may be empty. */
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
  return decodeText(Buffer.from(bytes, 'latin1'), charset);
}

/** Decodes text; undefined for an unknown character set. */
export function decodeText(bytes: Uint8Array, charset: string): string | undefined {
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return undefined;
  }
}

/**
 * Parses `form-data; name="a"` into a value and its parameters by name, both in lower case; undefined if malformed. As
 * clients write it, a quotation mark ends a value only before a semicolon or the end, and a backslash escapes only
 * itself and that mark.
 */
export function parseParameters(header: string) {
  const parameters: Partial<Record<string, string>> = Object.create(null);
  const first = endOfPlain(header, 0);
  for (let at = first; ; ) {
    at = skip(header, at, /[;\s]*/y);
    if (at === header.length) return { value: header.slice(0, first).trim().toLowerCase(), parameters };
    const equals = skip(header, at, /[^\s=;"]+\s*=\s*/y);
    if (equals === at) return undefined;
    const name = (header.slice(at, equals).split('=', 1)[0] ?? '').trim().toLowerCase();
    const text = header[equals] === '"' ? readQuoted(header, equals + 1) : readPlain(header, equals);
    if (!text) return undefined;
    parameters[name] ??= text.value;
    at = text.end;
  }
}

function readPlain(header: string, start: number) {
  const end = endOfPlain(header, start);
  return { value: header.slice(start, end).trim(), end };
}

function readQuoted(header: string, start: number) {
  let value = '';
  for (let at = start; at < header.length; at += 1) {
    const character = header[at];
    const next = header[at + 1];
    if (character === '\\' && (next === '\\' || next === '"')) {
      value += next;
      at += 1;
    } else if (character === '"') {
      const end = skip(header, at + 1, /\s*/y);
      if (end === header.length || header[end] === ';') return { value, end };
      value += character;
    } else {
      value += character;
    }
  }
  return undefined;
}

function endOfPlain(header: string, start: number): number {
  const end = header.indexOf(';', start);
  return end < 0 ? header.length : end;
}

function skip(text: string, start: number, what: RegExp): number {
  what.lastIndex = start;
  return start + (what.exec(text)?.[0].length ?? 0);
}
