import { badRequest, type HttpError } from '../errors/errors.ts';
import { guessPartName, type PartHead, parsePartHead } from './part-head.ts';

/** Searches for a byte sequence (Horspool). Our own, because `indexOf` of Deno's buffers compares every byte. */
export class ByteSearch {
  readonly #needle: Uint8Array;
  readonly #skip: Uint16Array;

  /** @param needle up to 65,535 bytes */
  constructor(needle: Uint8Array) {
    this.#needle = needle;
    this.#skip = new Uint16Array(256).fill(needle.length);
    for (let i = 0; i < needle.length - 1; i += 1) this.#skip[needle[i] ?? 0] = needle.length - 1 - i;
  }

  /** Returns where the sequence stands, or may begin at the end, from a position on; else the length. */
  in(bytes: Uint8Array, from = 0): number {
    const needle = this.#needle;
    const skip = this.#skip;
    const last = needle.length - 1;
    let at = from;
    while (at + last < bytes.length) {
      const byte = bytes[at + last] as number;
      if (byte === needle[last] && this.#matches(bytes, at, last)) return at;
      at += skip[byte] as number;
    }
    // The window may have passed a beginning in the last bytes.
    for (at = Math.max(from, bytes.length - last); at < bytes.length; at += 1) {
      if (this.#matches(bytes, at, bytes.length - at)) return at;
    }
    return bytes.length;
  }

  #matches(bytes: Uint8Array, at: number, length: number): boolean {
    for (let i = 0; i < length; i += 1) if (bytes[at + i] !== this.#needle[i]) return false;
    return true;
  }
}

const CRLF = Buffer.from('\r\n');
const HEAD_END = '\r\n\r\n';
const HEAD_BYTES = 16 * 1024;
/** Limit for blanks between a boundary and the end of its line. */
const PADDING = 64;
/** Limit for ignored text before the first and after the last part. */
const OUTSIDE_BYTES = 64 * 1024;

export const brokenForm = (reason: string): HttpError =>
  badRequest(`The multipart form is broken or was cut short: ${reason}.`);

/**
 * Reads the parts of a multipart body one after another, as bytes arrive.
 *
 * Our own, because `busboy`, `formidable` and `multiparty` silently drop parts with an unreadable head, end parts at
 * lines that only begin like the boundary, and report a long field only at its end.
 */
export class Parts {
  readonly #read: () => Promise<Uint8Array | undefined>;
  readonly #delimiter: string;
  readonly #search: ByteSearch;
  /** Bytes that have arrived and are not returned yet. The first boundary needs no line break before it. */
  #buffer: Buffer = CRLF;
  /** Text before the first or after the last part. */
  #outside = '';
  /** False before the first part. */
  #inside = false;
  #atDelimiter = false;

  /** @param boundary one character per byte, as in headers @param read returns the next chunk, undefined at the end */
  constructor(boundary: string, read: () => Promise<Uint8Array | undefined>) {
    this.#delimiter = `\r\n--${boundary}`;
    this.#search = new ByteSearch(Buffer.from(this.#delimiter, 'latin1'));
    this.#read = read;
  }

  /** Skips the rest of the part and returns the next head; undefined after the last part. @throws {HttpError} 400 */
  async next(): Promise<PartHead | undefined> {
    await this.#dropContent();
    if (await this.#isLast()) {
      await this.#dropRest();
      return undefined;
    }
    const head = await this.#head();
    const parsed = parsePartHead(head);
    if (!parsed) throw unreadable(guessPartName(head));
    if (parsed.type.startsWith('multipart/')) {
      throw badRequest(`The part '${parsed.name}' is a multipart form itself; send each file as a separate part.`);
    }
    this.#inside = true;
    return parsed;
  }

  /** Returns more content of the part; undefined at its end. @throws {HttpError} 400 when the form ends early */
  async content(): Promise<Buffer | undefined> {
    for (;;) {
      if (this.#atDelimiter) return undefined;
      const { end, found } = this.#findDelimiter();
      this.#atDelimiter = found;
      if (end > 0) return this.#take(end);
      if (!found) await this.#more(this.#inside ? 'it ends in the middle of a part' : 'it has no part');
    }
  }

  async #dropContent(): Promise<void> {
    for (let chunk = await this.content(); chunk; chunk = await this.content()) {
      if (!this.#inside) this.#drop(chunk, 'it does not begin with its boundary');
    }
    this.#atDelimiter = false;
    this.#take(this.#delimiter.length);
  }

  async #dropRest(): Promise<void> {
    this.#outside = '';
    for (let rest: Uint8Array | undefined = this.#buffer; rest; rest = await this.#read()) {
      this.#drop(rest, 'data follows its end');
    }
  }

  /** Ignores text outside of parts, but no boundary in it. */
  #drop(bytes: Uint8Array, tooMuch: string): void {
    const before = this.#outside.length;
    this.#outside += Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
    if (this.#outside.length > OUTSIDE_BYTES) throw brokenForm(tooMuch);
    if (this.#outside.includes(this.#delimiter, Math.max(0, before - this.#delimiter.length))) {
      throw brokenForm('a boundary is outside of the parts');
    }
  }

  /** Reads what follows the delimiter: the end of the form, or the line break before a head. */
  async #isLast(): Promise<boolean> {
    for (;;) {
      const kind = kindOfDelimiter(this.#text(0, PADDING));
      if (kind === 'last') return true;
      if (kind === 'next') {
        this.#take(this.#buffer.indexOf(CRLF) + CRLF.length);
        return false;
      }
      await this.#more('it ends in the middle of a boundary');
    }
  }

  async #head(): Promise<Buffer> {
    for (;;) {
      const text = this.#text(0, HEAD_BYTES + HEAD_END.length);
      if (text.startsWith('\r\n')) throw unreadable(undefined);
      const end = text.indexOf(HEAD_END);
      if (end < 0 && text.length === HEAD_BYTES + HEAD_END.length) {
        throw badRequest(`The head of a part is longer than ${HEAD_BYTES} bytes.`);
      }
      if (end >= 0) return this.#take(end + HEAD_END.length).subarray(0, end);
      await this.#more('it ends in the head of a part');
    }
  }

  /** Returns where content ends in the buffer, and whether a delimiter follows. */
  #findDelimiter(): { end: number; found: boolean } {
    for (let from = 0; ; ) {
      const at = this.#search.in(this.#buffer, from);
      const after = at + this.#delimiter.length;
      // No delimiter, or an incomplete one.
      if (after > this.#buffer.length) return { end: at, found: false };
      const kind = kindOfDelimiter(this.#text(after, after + PADDING));
      if (kind === 'unknown') return { end: at, found: false };
      if (kind !== 'none') return { end: at, found: true };
      from = after;
    }
  }

  #text(start: number, end: number): string {
    return this.#buffer.toString('latin1', start, end);
  }

  #take(length: number): Buffer {
    const taken = this.#buffer.subarray(0, length);
    this.#buffer = this.#buffer.subarray(length);
    return taken;
  }

  async #more(fault: string): Promise<void> {
    const chunk = await this.#read();
    if (!chunk) throw brokenForm(fault);
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    this.#buffer = this.#buffer.length === 0 ? bytes : Buffer.concat([this.#buffer, bytes]);
  }
}

/** Classifies a line that begins like a boundary. RFC 2046 allows trailing blanks. */
function kindOfDelimiter(line: string): 'next' | 'last' | 'none' | 'unknown' {
  if (line.startsWith('--')) return 'last';
  if (/^[ \t]*\r\n/.test(line)) return 'next';
  const open = line.length < PADDING && /^(?:-|[ \t]*\r?)$/.test(line);
  return open ? 'unknown' : 'none';
}

function unreadable(name: string | undefined): HttpError {
  const part = name === undefined ? 'a part' : `the part '${name}'`;
  return badRequest(
    `The head of ${part} cannot be read: it must have a Content-Disposition of form-data with a name, and names must be on one line.`,
  );
}
