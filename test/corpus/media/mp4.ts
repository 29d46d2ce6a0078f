import { type Hostile, latin1, patched, repeated, smallClip, uint32 } from './hostile.ts';

const ABSURD = 0x3fff_ffff;
/** The description of the pictures; the name stands at the start of the file as well. */
const AVC1 = 'avc1\0\0\0\0\0\0\0\x01';

/** MP4 and QuickTime: boxes in boxes, and tables that say how long they are. */
export async function hostileMp4(outside: string): Promise<Hostile[]> {
  const clip = await smallClip('mp4');
  const quicktime = await smallClip('mov');
  const table = (mark: string, offset = 8) => patched(clip, mark, offset, uint32(ABSURD));
  const files: Record<string, Uint8Array> = {
    'a table of sizes with a thousand million entries': table('stsz', 12),
    'a table of times with a thousand million entries': table('stts'),
    'a table of chunks with a thousand million entries': table('stsc'),
    'a table of places with a thousand million entries': table('stco'),
    'a table of keyframes with a thousand million entries': table('stss'),
    'an edit list with a thousand million entries': table('elst'),
    'samples of two gigabytes each': patched(clip, 'stsz', 8, uint32(0x7fff_ffff)),
    'chunks behind the end': patched(clip, 'stco', 12, uint32(0xffff_fff0)),
    'a frame that lasts for ever': patched(clip, 'stts', 12, uint32(1, 0x7fff_ffff)),
    'frames that last no time': patched(clip, 'stts', 16, uint32(0)),
    'no time scale': patched(clip, 'mdhd', 16, uint32(0)),
    'a million frames a second': patched(clip, 'mdhd', 16, uint32(10_000_000)),
    'a frame every three years': patched(clip, 'mdhd', 16, uint32(1)),
    'a duration of centuries': patched(patched(clip, 'mvhd', 20, uint32(0xffff_fff0)), 'mvhd', 16, uint32(1)),
    'an edit list that begins in the past': patched(clip, 'elst', 16, uint32(0x8000_0001)),
    'pictures of 65535 by 65535': patched(clip, AVC1, 28, uint32(0xffff_ffff)),
    'pictures without a size': patched(clip, AVC1, 28, uint32(0)),
    'a header of pictures that is garbage': patched(clip, 'avcC', 4, Buffer.alloc(20, 0xff)),
    'sound in 65535 channels': patched(clip, 'mp4a', 20, uint32(0xffff_0010)),
    'sound without a rate': patched(clip, 'mp4a', 28, uint32(0)),
    'an encrypted picture': patched(clip, AVC1, 0, latin1('encv')),
    'a codec of nobody': patched(clip, AVC1, 0, latin1('zzzz')),
    'a hundred thousand tracks': whole(box('moov', repeated(100_000, box('trak')))),
    'ten thousand tracks of sound': whole(box('moov', repeated(10_000, soundTrack()))),
    'boxes in boxes, ten thousand deep': whole(nested('moov', 'trak', 10_000)),
    'lists in lists, ten thousand deep': whole(nested('moov', 'udta', 10_000)),
    'a box that says it is four exabytes long': whole(longBox('moov', 2n ** 62n)),
    'a box that ends before it began': whole(longBox('moov', -8n)),
    'boxes of nothing': Buffer.concat([whole(), Buffer.alloc(200_000)]),
    'an index that unpacks to gigabytes': whole(compressedIndex()),
    'media that are in another file': grown(quicktime, 'dref', alias('/etc/passwd')),
    'media that are on another host': grown(quicktime, 'dref', alias(outside)),
    'an index that is in another file': whole(box('moov', box('rmra', box('rmda', reference(outside))))),
    'metadata of two gigabytes': whole(box('moov', box('udta', Buffer.concat([uint32(0x7fff_ffff), latin1('©nam')])))),
  };
  return Object.entries(files).map(([name, bytes]) => ({ name: `an MP4 with ${name}`, bytes }));
}

function box(type: string, ...content: Uint8Array[]): Buffer {
  const length = content.reduce((sum, part) => sum + part.length, 8);
  return Buffer.concat([uint32(length), latin1(type), ...content]);
}

function longBox(type: string, length: bigint): Buffer {
  const header = Buffer.alloc(16);
  header.writeUInt32BE(1);
  header.write(type, 4, 'latin1');
  header.writeBigInt64BE(length, 8);
  return header;
}

/** What makes it an MP4, and a little that could be media. */
function whole(...parts: Uint8Array[]): Buffer {
  return Buffer.concat([box('ftyp', latin1('isom\0\0\0\0isom')), ...parts, box('mdat', Buffer.alloc(100))]);
}

function nested(outer: string, inner: string, depth: number): Buffer {
  const headers = Array.from({ length: depth }, (_, i) => [uint32((depth - i) * 8), latin1(i === 0 ? outer : inner)]);
  return Buffer.concat(headers.flat());
}

function soundTrack(): Buffer {
  const handler = box('hdlr', uint32(0, 0), latin1('soun'), uint32(0, 0, 0));
  return box('trak', box('mdia', handler, box('minf', box('stbl'))));
}

/** A compressed index says how long it is when unpacked. */
function compressedIndex(): Buffer {
  const algorithm = box('dcom', latin1('zlib'));
  return box('moov', box('cmov', algorithm, box('cmvd', uint32(0xffff_ff00), Buffer.alloc(2000, 0x78))));
}

const PARENTS = ['moov', 'trak', 'mdia', 'minf', 'dinf'];

/** A file with its index behind in which the content of a box, behind its first eight bytes, is another. */
function grown(file: Buffer, type: string, content: Buffer): Buffer {
  const at = file.indexOf(type, 0, 'latin1');
  const old = file.readUInt32BE(at - 4) - 16;
  const copy = Buffer.concat([file.subarray(0, at + 12), content, file.subarray(at + 12 + old)]);
  for (const parent of [...PARENTS, type]) {
    const place = copy.lastIndexOf(parent, at, 'latin1') - 4;
    copy.writeUInt32BE(copy.readUInt32BE(place) + content.length - old, place);
  }
  return copy;
}

/** A reference to another file as QuickTime has it: a record of fixed length, then the path as type 18. */
function alias(path: string): Buffer {
  const record = Buffer.alloc(150);
  const long = Buffer.alloc(path.length + (path.length % 2));
  long.write(path);
  const kind = (n: number, length: number) => Buffer.from([0, n, 0, length]);
  const end = Buffer.from([0xff, 0xff, 0, 0]);
  return box('alis', uint32(0), record, kind(2, path.length), long, kind(18, path.length), long, end);
}

function reference(url: string): Buffer {
  return box('rdrf', uint32(0), latin1('url '), uint32(url.length), latin1(url));
}
