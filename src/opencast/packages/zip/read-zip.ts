import type { Readable } from 'node:stream';
import { Bytes } from './bytes.ts';
import { type Found, readContent } from './content.ts';
import { dropDescriptor } from './descriptor.ts';
import { type ReadEntry, verifyDirectory } from './directory.ts';
import { handOut } from './hand-out.ts';
import {
  beginsArchive,
  endIsUnknown,
  LOCAL,
  type LocalHeader,
  nextSignature,
  readLocalHeader,
  STORED,
} from './records.ts';
import { entryRefused, ZIP_REFUSED } from './refusals.ts';
import { type Spooled, spool } from './spool.ts';

export const MAX_ENTRIES = 1000;
/** Room for the records beside the content. */
const RECORD_BYTES = 32 * 2 ** 20;

/** How an archive is read. Sizes in bytes. */
export interface ZipOptions {
  /** Of all files together as they come out of it. */
  maxBytes: number;
  /** Where an archive that cannot be read as it comes has its file while it is read; made when absent. */
  folder: string;
}

/** A file in an archive, as it comes. */
export interface ZipEntry {
  /** A relative path with `/` between its folders, safe to show, and the only one of its name. */
  name: string;
  /** As the archive says; undefined where it says so only after the content. */
  size: number | undefined;
  /** Fails when the archive does. Need not be read to its end. */
  stream: Readable;
}

/**
 * Reads a zip archive while it arrives, however large it and its files are: each file is given to `onEntry` as its bytes
 * come, with back-pressure to the source, and the next one after `onEntry` has settled. Folders are not given. Only from an
 * entry on that is stored without its size before it, the rest goes through a file first, for the directory at the end
 * knows.
 *
 * What was given is good when this resolves, and not before: at the end of the archive it is held against the directory.
 *
 * Of our own: what is kept well (`yauzl`, `zip.js`) wants the whole archive first, and what reads as it comes (`unzipper`,
 * `unzip-stream`, `fflate`) does not look at the directory or the checksums, searches content for signatures, or holds
 * what nobody has asked for in memory.
 *
 * @throws {HttpError} 400 for an archive that is damaged, cut short or hostile
 * @throws what the source throws, or `onEntry`
 */
export async function readZip(
  source: AsyncIterable<Uint8Array>,
  options: ZipOptions,
  onEntry: (entry: ZipEntry) => Promise<void>,
): Promise<void> {
  const archive = new Archive(new Bytes(source), options, onEntry);
  try {
    await archive.read();
  } finally {
    await archive.close();
  }
}

class Archive {
  readonly #came: Bytes;
  readonly #options: ZipOptions;
  readonly #onEntry: (entry: ZipEntry) => Promise<void>;
  #spooled: Spooled | undefined;
  readonly #entries = new Map<number, ReadEntry>();
  readonly #names = new Set<string>();
  #size = 0;

  constructor(came: Bytes, options: ZipOptions, onEntry: (entry: ZipEntry) => Promise<void>) {
    this.#came = came;
    this.#options = options;
    this.#onEntry = onEntry;
  }

  async read(): Promise<void> {
    if (!(await beginsArchive(this.#came))) throw ZIP_REFUSED('it does not begin as zip archives do');
    while ((await nextSignature(this.#bytes)) === LOCAL) {
      if (this.#entries.size === MAX_ENTRIES) throw ZIP_REFUSED(`it has more than ${MAX_ENTRIES} entries`);
      if (!this.#spooled && (await endIsUnknown(this.#came))) this.#spooled = await this.#spool();
      await this.#readEntry(await readLocalHeader(this.#bytes));
    }
    await verifyDirectory(this.#bytes, this.#entries);
  }

  async close(): Promise<void> {
    this.#came.close();
    await this.#spooled?.close();
  }

  get #bytes(): Bytes {
    return this.#spooled?.bytes ?? this.#came;
  }

  #spool(): Promise<Spooled> {
    const { folder, maxBytes } = this.#options;
    return spool(this.#came, { folder, most: maxBytes + RECORD_BYTES, maxEntries: MAX_ENTRIES });
  }

  async #readEntry(header: LocalHeader): Promise<void> {
    const { name, known } = header;
    if (this.#names.has(name)) throw entryRefused(name, 'is there twice');
    this.#names.add(name);
    if (known && header.method === STORED && known.size !== known.compressed) throw damaged(name);
    this.#admit(name, known?.size ?? 0);
    const compressed = this.#compressedSize(header);
    const found: Found = { crc32: 0, compressed: 0, size: 0 };
    const onBytes = (count: number) => this.#admit(name, found.size + count);
    const content = readContent({ bytes: this.#bytes, header, compressed, onBytes }, found);
    if (name.endsWith('/'))
      for await (const _ of content) throw entryRefused(name, 'is a folder with content');
    else await handOut(content, (stream) => this.#onEntry({ name, size: known?.size, stream }));
    this.#size += found.size;
    const whole = known ? isSame(known, found) : await dropDescriptor(this.#bytes, found);
    if (!whole) throw damaged(name);
    this.#entries.set(header.offset, { header, found });
  }

  #compressedSize({ offset, name, method, known }: LocalHeader): number | undefined {
    if (known || method !== STORED) return known?.compressed;
    const size = this.#spooled?.compressed.get(offset);
    if (size === undefined) throw entryRefused(name, 'is not in the directory of the archive');
    return size;
  }

  /** @param size of the entry that is being read, as far as it is known */
  #admit(name: string, size: number): void {
    const { maxBytes } = this.#options;
    if (this.#size + size > maxBytes) {
      throw entryRefused(name, `makes the files of the archive larger than ${maxBytes} bytes together`);
    }
  }
}

const damaged = (name: string) => entryRefused(name, 'is damaged');

function isSame(known: Found, found: Found): boolean {
  return known.crc32 === found.crc32 && known.compressed === found.compressed && known.size === found.size;
}
