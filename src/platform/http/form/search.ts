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
