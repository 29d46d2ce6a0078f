/** Suits a container of half a gigabyte. */
export const DEFAULT_BYTES = 128 * 2 ** 20;

/** How often somebody who waits for a large buffer is passed by those for whom there is memory. */
const MOST_PASSED = 32;

interface Request {
  share: MemoryShare;
  bytes: number;
  grant: (buffer: Buffer) => void;
  /** How often others came first. */
  passed: number;
}

/**
 * The memory in which a process gathers what it is about to store, for all uploads together. When it is used up, whoever
 * wants more waits, and with it the client at the other end; nobody is refused. First come those that have nothing, mostly
 * in the order in which they ask; what is left is shared evenly.
 */
export class UploadMemory {
  readonly #total: number;
  readonly #shares = new Set<MemoryShare>();
  readonly #waiting: Request[] = [];
  readonly #spare = new SpareBuffers();
  #used = 0;

  /** @param total in bytes */
  constructor(total = DEFAULT_BYTES) {
    this.#total = total;
  }

  /** What one upload has of it; to be closed when that ends. */
  share(): MemoryShare {
    const share: MemoryShare = new MemoryShare({
      take: (bytes) => this.#take(share, bytes),
      give: (buffer) => this.#give(buffer),
      close: () => this.#close(share),
    });
    this.#shares.add(share);
    return share;
  }

  #take(share: MemoryShare, bytes: number): Promise<Buffer> {
    return new Promise((grant) => {
      if (!this.#shares.has(share)) return;
      this.#waiting.push({ share, bytes, grant, passed: 0 });
      this.#serve();
    });
  }

  #give(buffer: Buffer): void {
    this.#used -= buffer.length;
    this.#spare.keep(buffer);
    this.#serve();
  }

  #close(share: MemoryShare): void {
    this.#shares.delete(share);
    const others = this.#waiting.filter((request) => request.share !== share);
    this.#waiting.splice(0, Infinity, ...others);
    this.#serve();
  }

  #serve(): void {
    for (let turn = this.#turn(); turn >= 0; turn = this.#turn()) {
      for (const { share, bytes, grant } of this.#waiting.splice(turn, 1)) {
        this.#used += bytes;
        grant(share.holds(this.#spare.take(bytes, this.#total - this.#used)));
      }
    }
  }

  /** Whose turn it is, by the place in the queue; -1 while there is nothing for anybody. */
  #turn(): number {
    const fits = (bytes: number) => this.#used === 0 || this.#used + bytes <= this.#total;
    const empty = this.#waiting.filter(({ share }) => share.held === 0);
    const [first] = empty;
    if (first) {
      const next = first.passed < MOST_PASSED ? empty.find(({ bytes }) => fits(bytes)) : first;
      if (!next || !fits(next.bytes)) return -1;
      if (next !== first) first.passed++;
      return this.#waiting.indexOf(next);
    }
    const fair = this.#total / this.#shares.size;
    // A share may end within a buffer: so much of the memory would else be of no use to anybody.
    return this.#waiting.findIndex(({ share, bytes }) => share.held < fair && fits(bytes));
  }
}

interface Pool {
  take(bytes: number): Promise<Buffer>;
  give(buffer: Buffer): void;
  close(): void;
}

/** The memory of one upload. */
export class MemoryShare {
  readonly #pool: Pool;
  readonly #held = new Set<Buffer>();
  #bytes = 0;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** How many bytes it has. */
  get held(): number {
    return this.#bytes;
  }

  /**
   * A buffer of that size, as soon as there is memory for it: at the latest when nobody else has any, however large it
   * is. It holds whatever it held before. Never settles once the share is closed.
   */
  take(bytes: number): Promise<Buffer> {
    return this.#pool.take(bytes);
  }

  /** Gives a buffer back; nobody may use it any more. One that is not held is left alone. */
  give(buffer: Buffer): void {
    if (!this.#held.delete(buffer)) return;
    this.#bytes -= buffer.length;
    this.#pool.give(buffer);
  }

  /** Gives back all there is. */
  close(): void {
    for (const buffer of [...this.#held]) this.give(buffer);
    this.#pool.close();
  }

  /** For the memory it belongs to, which has granted a buffer. */
  holds(buffer: Buffer): Buffer {
    this.#held.add(buffer);
    this.#bytes += buffer.length;
    return buffer;
  }
}

/**
 * Buffers that were given back: to make one of megabytes costs more than to fill it. They are shared, so that another thread
 * can look at what they hold, and kept for good: the collector of neither thread would hurry to free shared memory.
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

  /** @param room how many bytes may be kept besides */
  take(bytes: number, room: number): Buffer {
    const buffer = this.#bySize.get(bytes)?.pop();
    if (buffer) {
      this.#bytes -= bytes;
      return buffer;
    }
    if (this.#bytes > room) this.#forget();
    return Buffer.from(new SharedArrayBuffer(bytes));
  }

  #forget(): void {
    this.#bySize.clear();
    this.#bytes = 0;
  }
}
