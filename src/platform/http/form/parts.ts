import { badRequest, type HttpError } from '../errors/errors.ts';
import { guessPartName, type PartHead, parsePartHead } from './part-head.ts';

/**
 * Finds one sequence of bytes in others, as Horspool does: it looks at about one byte of as many as the sequence has.
 *
 * Of our own, because `indexOf` of Deno's buffers looks at every byte one by one, and a text to search would have to be
 * made of each buffer.
 */
export class Search {
  readonly #needle: Uint8Array;
  /** How far to go on from a window, by its last byte. */
  readonly #skip: Uint16Array;

  /** @param needle up to 65,535 bytes */
  constructor(needle: Uint8Array) {
    this.#needle = needle;
    this.#skip = new Uint16Array(256).fill(needle.length);
    for (let i = 0; i < needle.length - 1; i += 1) this.#skip[needle[i] ?? 0] = needle.length - 1 - i;
  }

  /**
   * @returns where the sequence stands first from a place on, or where it may begin at the end of the bytes; their length
   * when neither
   */
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
    // The window has gone past what was looked at for certain; a beginning may stand anywhere in the last bytes.
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
/** Of blanks between a boundary and the end of its line. */
const PADDING = 64;
/** Before the first part and after the last one; nobody reads it. */
const OUTSIDE_BYTES = 64 * 1024;

/** The form does not hold what its boundaries and heads promise. */
export const broken = (reason: string): HttpError =>
  badRequest(`The multipart form is broken or was cut short: ${reason}.`);

/**
 * The parts of a multipart body, one after the other, as their bytes arrive.
 *
 * Of our own, because what is known (`busboy` and its descendants, `formidable`, `multiparty`) drops a part whose head
 * it cannot read without a word, ends parts where a line merely begins like the boundary, and tells of a text that is
 * too long when it has ended.
 */
export class Parts {
  readonly #read: () => Promise<Uint8Array | undefined>;
  readonly #delimiter: string;
  readonly #search: Search;
  /** What has come and is not handed out. The first boundary may do without a line before it. */
  #buffer: Buffer = CRLF;
  /** What stands before the first part or after the last one. */
  #outside = '';
  /** Whether what follows belongs to a part, and not to what is before the first. */
  #inside = false;
  #atDelimiter = false;

  /**
   * @param boundary as headers are, each byte a character
   * @param read the next chunk of the body, undefined at its end
   */
  constructor(boundary: string, read: () => Promise<Uint8Array | undefined>) {
    this.#delimiter = `\r\n--${boundary}`;
    this.#search = new Search(Buffer.from(this.#delimiter, 'latin1'));
    this.#read = read;
  }

  /**
   * The head of the next part, after what the last one had has been read; undefined after the last one.
   *
   * @throws {HttpError} 400
   */
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
      throw badRequest(`The part '${parsed.name}' is a multipart form itself; each file must be a part of its own.`);
    }
    this.#inside = true;
    return parsed;
  }

  /** More of the content of the part; undefined at its end. @throws {HttpError} 400 when the form ends before */
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
      this.#drop(rest, 'it goes on after its end');
    }
  }

  /** What nobody reads may be a note, but no part. */
  #drop(bytes: Uint8Array, tooMuch: string): void {
    const before = this.#outside.length;
    this.#outside += Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
    if (this.#outside.length > OUTSIDE_BYTES) throw broken(tooMuch);
    if (this.#outside.includes(this.#delimiter, Math.max(0, before - this.#delimiter.length))) {
      throw broken('a boundary stands where no part can be');
    }
  }

  /** What the delimiter that was just taken stands before: the end, or a part, whose head is next then. */
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

  /** Where content ends for now, and whether for good. */
  #findDelimiter(): { end: number; found: boolean } {
    for (let from = 0; ; ) {
      const at = this.#search.in(this.#buffer, from);
      const after = at + this.#delimiter.length;
      // None, or one that has only begun.
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
    if (!chunk) throw broken(fault);
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    this.#buffer = this.#buffer.length === 0 ? bytes : Buffer.concat([this.#buffer, bytes]);
  }
}

/** What a line that begins like a boundary is, by what follows. RFC 2046 allows blanks, which hardly anybody sends. */
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
