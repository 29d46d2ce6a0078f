import { isUtf8 } from 'node:buffer';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { crc32 } from 'node:zlib';
import {
  type Entry,
  fromRandomAccessReaderPromise,
  getFileNameLowLevel,
  RandomAccessReader,
  type ZipFile,
} from 'yauzl';
import type { ReceivedFile } from '#ingest/staged-files.ts';
import { HttpError, refusal } from '#platform/http/errors/errors.ts';
import { type ObjectStorage, type StorageRefused, storageRefused } from '#platform/storage/object-storage.ts';

export const MAX_ENTRIES = 1000;
const MAX_NAME_BYTES = 1024;
/** Characters of a name in an error message. */
const SHOWN = 100;

/**
 * Limits for compression bombs. Media hardly shrink and text shrinks to a tenth, but zeros to a thousandth. Small files
 * are exempt because of silence.
 */
const BOMB_RATIO = 200;
const BOMB_BYTES = 4 * 2 ** 20;

const STORED = 0;
const DEFLATED = 8;
const ENCRYPTED = 1 | (1 << 6) | (1 << 13);
const SIZES_FOLLOW = 1 << 3;
const PATCH = 1 << 5;
const UTF8 = 1 << 11;
const SYMBOLIC_LINK = 0xa000;
/** The value of a size that is in the 64-bit extra field. */
const IN_64_BITS = 0xffffffff;
/** Sizes of the data descriptor: with or without a signature, in 32 or 64 bits. */
const DESCRIPTOR_BYTES = [12, 16, 20, 24];

export const ZIP_REFUSED = refusal(400, (reason: string) => `The zip archive is invalid: ${reason}.`, [
  'it cannot be read, or was cut short',
]);
const DISAGREES = () => ZIP_REFUSED('its directory does not agree with its content');

/** A file in an archive. */
export interface ZippedFile {
  /** Unique relative path with `/` as separator, safe for display. */
  name: string;
  /** Unpacked size in bytes. Content of another size is rejected. */
  size: number;
  entry: Entry;
  /** Offset of its content in the archive. */
  contentStart: number;
}

/** A zip archive in the storage. Its files are read in any order, as streams. */
export class ZipArchive {
  readonly #zip: ZipFile;
  readonly #reader: StoredObjectReader;
  readonly files: ReadonlyMap<string, ZippedFile>;

  private constructor(zip: ZipFile, reader: StoredObjectReader, files: ReadonlyMap<string, ZippedFile>) {
    this.#zip = zip;
    this.#reader = reader;
    this.files = files;
  }

  /**
   * Opens an archive and checks everything but the content of its files.
   *
   * @param maxBytes of all files together, unpacked
   * @throws {HttpError} 400 for an archive that is damaged, cut short or hostile
   * @throws {StorageRefused}
   */
  static async open(storage: Pick<ObjectStorage, 'get'>, object: StoredObject, maxBytes: number): Promise<ZipArchive> {
    const reader = new StoredObjectReader(storage, object);
    try {
      const options = { autoClose: false, decodeStrings: false };
      const zip = await fromRandomAccessReaderPromise(reader, object.size, options);
      const files = await readDirectory(zip, maxBytes);
      return new ZipArchive(zip, reader, files);
    } catch (error) {
      if (error instanceof HttpError) throw error;
      const reason = error instanceof Error ? error.message.replace(/\.$/, '') : '';
      throw reader.failure ?? ZIP_REFUSED(`it cannot be read, or was cut short (${reason})`);
    }
  }

  /** Streams a file. The stream fails with an `HttpError` 400 when the content is damaged, or with `StorageRefused`. */
  open(file: ZippedFile): Readable {
    return Readable.from(this.#content(file));
  }

  /** Reads a file into memory. @throws as the stream fails */
  async read(file: ZippedFile): Promise<Buffer> {
    return buffer(this.#content(file));
  }

  async *#content({ name, entry, contentStart }: ZippedFile): AsyncGenerator<Buffer, void, void> {
    let checksum = 0;
    try {
      for await (const chunk of await this.#openRaw(entry, contentStart)) {
        checksum = crc32(chunk, checksum);
        yield chunk;
      }
    } catch {
      throw this.#reader.failure ?? entryRefused(name, 'is damaged');
    }
    if (checksum !== entry.crc32) throw entryRefused(name, 'is damaged');
  }

  #openRaw({ compressedSize, uncompressedSize, compressionMethod }: Entry, start: number): Promise<Readable> {
    const isDeflated = compressionMethod === DEFLATED;
    return new Promise((resolve, reject) => {
      const done = (error: Error | null, stream: Readable) => (error ? reject(error) : resolve(stream));
      // The library's own promise of it calls another function.
      this.#zip.openReadStreamLowLevel(
        ...([start, compressedSize, 0, compressedSize, isDeflated, uncompressedSize, done] as const),
      );
    });
  }
}

async function readDirectory(zip: ZipFile, maxBytes: number): Promise<Map<string, ZippedFile>> {
  if (zip.entryCount > MAX_ENTRIES) throw ZIP_REFUSED(`it has more than ${MAX_ENTRIES} entries`);
  // Its type says boolean.
  const directoryStart = Number(zip.readEntryCursor);
  const entries: ZippedFile[] = [];
  const names = new Set<string>();
  let bytes = 0;
  for await (const entry of zip.eachEntry()) {
    const name = nameOf(entry);
    const fault = names.has(name) ? 'exists twice' : faultOf(entry, name);
    if (fault) throw entryRefused(name, fault);
    names.add(name);
    bytes += entry.uncompressedSize;
    if (bytes > maxBytes) {
      throw entryRefused(name, `makes the files of the archive larger than ${maxBytes} bytes together`);
    }
    entries.push({ name, size: entry.uncompressedSize, entry, contentStart: 0 });
  }
  await locateContents(zip, entries, directoryStart);
  return new Map(entries.filter(({ name }) => !name.endsWith('/')).map((file) => [file.name, file]));
}

/** Finds the content of all files. Entries must neither overlap nor leave gaps. */
async function locateContents(zip: ZipFile, files: ZippedFile[], directoryStart: number): Promise<void> {
  let end = 0;
  let gaps = [0];
  const inOrder = files.toSorted((a, b) => a.entry.relativeOffsetOfLocalHeader - b.entry.relativeOffsetOfLocalHeader);
  for (const file of inOrder) {
    const { entry } = file;
    if (!gaps.includes(entry.relativeOffsetOfLocalHeader - end)) throw DISAGREES();
    const header = await zip.readLocalFileHeaderPromise(entry);
    const sizesFollow = (header.generalPurposeBitFlag & SIZES_FOLLOW) !== 0;
    const fields = ['crc32', 'compressedSize', 'uncompressedSize'] as const;
    const isSame =
      header.fileName.equals(entry.fileNameRaw) &&
      header.compressionMethod === entry.compressionMethod &&
      (sizesFollow || fields.every((key) => [entry[key], IN_64_BITS].includes(header[key])));
    if (!isSame) throw DISAGREES();
    file.contentStart = header.fileDataStart;
    end = header.fileDataStart + entry.compressedSize;
    gaps = sizesFollow ? DESCRIPTOR_BYTES : [0];
  }
  if (!gaps.includes(directoryStart - end)) throw DISAGREES();
}

function nameOf({ fileNameRaw, extraFields, generalPurposeBitFlag }: Entry): string {
  if (fileNameRaw.length === 0) throw ZIP_REFUSED('an entry has no name');
  // Many programs write UTF-8 without the flag, and text in other encodings is hardly ever valid UTF-8.
  const flags = isUtf8(fileNameRaw) ? generalPurposeBitFlag | UTF8 : generalPurposeBitFlag;
  const name = getFileNameLowLevel(flags, fileNameRaw, extraFields, true);
  if (Math.max(fileNameRaw.length, name.length) > MAX_NAME_BYTES) {
    throw ZIP_REFUSED(`the name of an entry is longer than ${MAX_NAME_BYTES} bytes`);
  }
  if (name.includes('\ufffd') && !isUtf8(fileNameRaw))
    throw ZIP_REFUSED('the name of an entry is not UTF-8 as it says');
  return name;
}

function faultOf(entry: Entry, name: string): string | undefined {
  const { generalPurposeBitFlag: flags, compressionMethod: method, compressedSize, uncompressedSize } = entry;
  if (/\p{Cc}/u.test(name)) return 'has a control character in its name';
  if (name.includes('\\')) return 'has a backslash in its name; folders are separated by /';
  if (name.startsWith('/')) return 'has an absolute path';
  if (/^[A-Za-z]:/.test(name)) return 'has the letter of a drive in its name';
  const parts = name.replace(/\/$/, '').split('/');
  if (parts.some((part) => ['', '.', '..'].includes(part))) return "has an empty part, '.' or '..' in its path";
  if (flags & ENCRYPTED) return 'is encrypted';
  if (flags & PATCH) return 'is a patch';
  if (method !== STORED && method !== DEFLATED) {
    return `has the compression method ${method}; allowed are 0 (stored) and 8 (deflated)`;
  }
  if (((entry.externalFileAttributes >>> 16) & 0xf000) === SYMBOLIC_LINK) return 'is a symbolic link';
  if (name.endsWith('/') && uncompressedSize > 0) return 'is a folder with content';
  if (uncompressedSize > BOMB_BYTES && uncompressedSize > BOMB_RATIO * compressedSize) {
    return `unpacks to more than ${BOMB_RATIO} times its packed size`;
  }
  return undefined;
}

/** Returns an error about one entry, with its name shortened and without control characters. */
function entryRefused(name: string, reason: string): HttpError {
  const plain = name.replace(/\p{C}/gu, '\u{fffd}');
  return ZIP_REFUSED(`the entry '${plain.length > SHOWN ? `${plain.slice(0, SHOWN)}…` : plain}' ${reason}`);
}

/** Size of a request to the storage: the directory of a usual archive, or many small files. */
const BLOCK_BYTES = 64 * 1024;

/** An object of the storage, and its size in bytes. */
type StoredObject = Pick<ReceivedFile, 'objectKey' | 'size'>;

/** Reads parts of a stored object for yauzl. Keeps the last block that was read. */
class StoredObjectReader extends RandomAccessReader {
  readonly #storage: Pick<ObjectStorage, 'get'>;
  readonly #object: StoredObject;
  #block: Buffer = Buffer.alloc(0);
  #blockStart = 0;
  /** The first fault of the storage, which is not a fault of the archive. */
  failure: StorageRefused | undefined;

  constructor(storage: Pick<ObjectStorage, 'get'>, object: StoredObject) {
    super();
    this.#storage = storage;
    this.#object = object;
  }

  override read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
    callback: (error: Error | null) => void,
  ): void {
    const copy = async () => {
      if (position + length > this.#object.size) throw new Error('unexpected end of the archive');
      if (!this.#holds(position, position + length)) await this.#readBlock(position, length);
      this.#block.copy(buffer, offset, position - this.#blockStart, position - this.#blockStart + length);
    };
    copy().then(() => callback(null), callback);
  }

  /** @param end of the range, not included */
  override _readStreamForRange(start: number, end: number): Readable {
    if (!this.#holds(start, end)) return Readable.from(this.#get(start, end));
    return Readable.from([this.#block.subarray(start - this.#blockStart, end - this.#blockStart)]);
  }

  #holds(start: number, end: number): boolean {
    return start >= this.#blockStart && end <= this.#blockStart + this.#block.length;
  }

  async #readBlock(start: number, length: number): Promise<void> {
    const end = Math.min(start + Math.max(length, BLOCK_BYTES), this.#object.size);
    const chunks: Uint8Array[] = [];
    for await (const chunk of this.#get(start, end)) chunks.push(chunk);
    this.#block = Buffer.concat(chunks);
    this.#blockStart = start;
  }

  async *#get(start: number, end: number): AsyncGenerator<Uint8Array, void, void> {
    try {
      yield* await this.#storage.get(this.#object.objectKey, { start, end: end - 1 });
    } catch (error) {
      this.failure ??= storageRefused(error);
      throw error;
    }
  }
}
