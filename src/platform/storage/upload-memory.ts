/** Suits a container of half a gigabyte. */
export const DEFAULT_UPLOAD_MEMORY_BYTES = 128 * 2 ** 20;

/** The number of smaller requests that may overtake a request for a large buffer. */
const MOST_PASSED = 32;

/** The part of the memory that one upload holds. */
export interface MemoryShare {
  /** Returns a buffer with undefined contents as soon as there is memory. Never settles after the share is closed. */
  take(bytes: number): Promise<Buffer>;
  /** Returns a buffer, which must not be used any more. Ignores a buffer that is not held. */
  give(buffer: Buffer): void;
  /** Returns all buffers. */
  close(): void;
}

interface Held {
  readonly buffers: Set<Buffer>;
  bytes: number;
}

interface Request {
  share: Held;
  bytes: number;
  grant: (buffer: Buffer) => void;
  passed: number;
}

/**
 * The memory for bytes that a process is about to store. When it is used up, further requests wait; none is refused.
 * Uploads without memory come first, mostly in the order of their requests; the rest is shared evenly.
 */
export class UploadMemory {
  readonly #total: number;
  readonly #shares = new Set<Held>();
  readonly #spare = new SpareBuffers();
  #waiting: Request[] = [];
  #used = 0;

  constructor(total = DEFAULT_UPLOAD_MEMORY_BYTES) {
    this.#total = total;
  }

  /** Creates the share of one upload; close it when the upload ends. */
  share(): MemoryShare {
    const share: Held = { buffers: new Set(), bytes: 0 };
    this.#shares.add(share);
    return {
      take: (bytes) =>
        new Promise((grant) => {
          if (!this.#shares.has(share)) return;
          this.#waiting.push({ share, bytes, grant, passed: 0 });
          this.#serve();
        }),
      give: (buffer) => this.#takeBack(share, buffer),
      close: () => {
        this.#shares.delete(share);
        this.#waiting = this.#waiting.filter((request) => request.share !== share);
        for (const buffer of share.buffers) this.#takeBack(share, buffer);
        this.#serve();
      },
    };
  }

  #takeBack(share: Held, buffer: Buffer): void {
    if (!share.buffers.delete(buffer)) return;
    share.bytes -= buffer.length;
    this.#used -= buffer.length;
    this.#spare.keep(buffer);
    this.#serve();
  }

  #serve(): void {
    for (let turn = this.#turn(); turn >= 0; turn = this.#turn()) {
      for (const { share, bytes, grant } of this.#waiting.splice(turn, 1)) {
        const buffer = this.#spare.take(bytes, this.#total - this.#used - bytes);
        this.#used += bytes;
        share.bytes += bytes;
        share.buffers.add(buffer);
        grant(buffer);
      }
    }
  }

  /** Returns the position in the queue of the next request to serve; -1 while none fits. */
  #turn(): number {
    const fits = (bytes: number) => this.#used === 0 || this.#used + bytes <= this.#total;
    const empty = this.#waiting.filter(({ share }) => share.bytes === 0);
    const [first] = empty;
    if (first) {
      const next = first.passed < MOST_PASSED ? empty.find(({ bytes }) => fits(bytes)) : first;
      if (!next || !fits(next.bytes)) return -1;
      if (next !== first) first.passed++;
      return this.#waiting.indexOf(next);
    }
    const fair = this.#total / this.#shares.size;
    // A share may exceed its part by one buffer, or that much memory would stay unused.
    return this.#waiting.findIndex(({ share, bytes }) => share.bytes < fair && fits(bytes));
  }
}

/**
 * Returned buffers: allocating is slower than filling. They are shared, so that another thread can read them, and kept:
 * garbage collection frees shared memory late.
 */
class SpareBuffers {
  readonly #bySize = new Map<number, Buffer[]>();
  #bytes = 0;

  keep(buffer: Buffer): void {
    const same = this.#bySize.get(buffer.length) ?? [];
    same.push(buffer);
    this.#bySize.set(buffer.length, same);
    this.#bytes += buffer.length;
  }

  /** @param room the bytes that spare buffers may use after this call */
  take(bytes: number, room: number): Buffer {
    const buffer = this.#bySize.get(bytes)?.pop();
    if (buffer) {
      this.#bytes -= bytes;
      return buffer;
    }
    if (this.#bytes > room) {
      this.#bySize.clear();
      this.#bytes = 0;
    }
    return Buffer.from(new SharedArrayBuffer(bytes));
  }
}
