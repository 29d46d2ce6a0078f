import { deflateSync } from 'node:zlib';
import { type Hostile, latin1, patched, repeated, smallClip } from './hostile.ts';

/** A length that says "unknown". */
const UNKNOWN = Buffer.from([0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]);
const HUGE = Buffer.from([0x01, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]);

/** Matroska: elements in elements, each with a length. */
export async function hostileMatroska(): Promise<Hostile[]> {
  const clip = await smallClip('mkv');
  const files: Record<string, Uint8Array> = {
    'a header of unknown length': Buffer.concat([hex('1a45dfa3'), UNKNOWN, doctype(), open('18538067')]),
    'lengths of petabytes': Buffer.concat([header(), hex('18538067'), UNKNOWN, hex('1549a966'), HUGE]),
    'nothing behind the header': header(),
    'an empty segment': Buffer.concat([header(), element('18538067')]),
    'ten thousand tracks': segment(element('1654ae6b', repeated(10_000, track(1))), cluster()),
    'two hundred tracks': segment(
      element('1654ae6b', ...Array.from({ length: 200 }, (_, i) => track(i + 1))),
      cluster(),
    ),
    'segments in segments without an end': Buffer.concat([header(), repeated(50_000, open('18538067'))]),
    'tags in tags without an end': Buffer.concat([
      header(),
      ...['18538067', '1254c367', '7373'].map(open),
      repeated(50_000, open('67c8')),
    ]),
    'megabytes of padding': segment(repeated(300_000, element('ec', Buffer.alloc(5)))),
    'padding of petabytes': Buffer.concat([header(), open('18538067'), hex('ec'), HUGE]),
    'packed frames that unpack to gigabytes': segment(packedTracks(), packedFrame()),
    'pictures of 65535 by 65535': segment(element('1654ae6b', video(65_535, 65_535)), cluster()),
    'pictures without a size': segment(element('1654ae6b', video(0, 0)), cluster()),
    'a frame every nanosecond': segment(element('1654ae6b', video(64, 48, hex('23e38381', '01'))), cluster()),
    'a duration of centuries': patched(clip, '\x44\x89\x88', 3, hex('7fe0000000000000')),
    'a duration that is no number': patched(clip, '\x44\x89\x88', 3, hex('7ff8000000000000')),
    'a negative duration': patched(clip, '\x44\x89\x88', 3, hex('c0b0000000000000')),
    'times that jump by hours': jumping(clip),
    'a private header of gigabytes': segment(element('1654ae6b', element('ae', hex('d78101', '63a2'), HUGE))),
  };
  const sent = Object.entries(files).map(([name, bytes]) => ({
    name: `a Matroska file with ${name}`,
    bytes,
  }));
  return [...sent, ...forgedLogs()];
}

/** The tools quote what a file calls itself: it may say that something of the service is broken. */
function forgedLogs(): Hostile[] {
  return ["Unknown encoder 'libx264'", 'x: No space left on device', 'x: Input/output error'].map((says) => ({
    name: `a Matroska file that says "${says}"`,
    bytes: Buffer.concat([
      element('1a45dfa3', doctype(), element('4282', latin1(`x\n${says}\n`))),
      Buffer.alloc(3000, 0xa5),
    ]),
    ends: 'FAILED',
  }));
}

const hex = (...parts: string[]): Buffer => Buffer.from(parts.join(''), 'hex');

function element(id: string, ...content: Uint8Array[]): Buffer {
  const length = content.reduce((sum, part) => sum + part.length, 0);
  const size = Buffer.alloc(8);
  size.writeBigUInt64BE(BigInt(length));
  size[0] = 1;
  return Buffer.concat([hex(id), size, ...content]);
}

function open(id: string): Buffer {
  return Buffer.concat([hex(id), UNKNOWN]);
}

function doctype(): Buffer {
  return element('4282', latin1('matroska'));
}

function header(): Buffer {
  return element('1a45dfa3', doctype());
}

function segment(...content: Uint8Array[]): Buffer {
  return Buffer.concat([header(), element('18538067', ...content)]);
}

function number(id: string, value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return element(id, bytes);
}

/** Sound of the simplest kind. */
function track(n: number): Buffer {
  const audio = element('e1', number('9f', 1));
  return element(
    'ae',
    number('d7', n),
    number('73c5', n),
    hex('838102'),
    element('86', latin1('A_PCM/INT/LIT')),
    audio,
  );
}

function video(width: number, height: number, more: Uint8Array = Buffer.alloc(0)): Buffer {
  const picture = element('e0', number('b0', width), number('ba', height));
  const codec = element('86', latin1('V_MPEG4/ISO/AVC'));
  return element('ae', number('d7', 1), number('73c5', 1), hex('838101'), codec, picture, more);
}

function cluster(frame = Buffer.alloc(100, 0x11)): Buffer {
  return element('1f43b675', number('e7', 0), element('a3', hex('81000080'), frame));
}

function packedTracks(): Buffer {
  const compression = element('5034', number('4254', 0));
  const encodings = element(
    '6d80',
    element('6240', number('5031', 0), number('5032', 1), number('5033', 0), compression),
  );
  const audio = element('e1', number('9f', 1));
  const codec = element('86', latin1('A_PCM/INT/LIT'));
  return element('1654ae6b', element('ae', number('d7', 1), number('73c5', 1), hex('838102'), codec, audio, encodings));
}

function packedFrame(): Buffer {
  const bomb = deflateSync(Buffer.alloc(64 * 2 ** 20), { level: 9 });
  return repeated(8, cluster(bomb));
}

/** Every cluster's time is moved, forwards and backwards. */
function jumping(clip: Buffer): Buffer {
  const copy = Buffer.from(clip);
  let at = copy.indexOf(hex('1f43b675'));
  for (let n = 0; at >= 0; n++, at = copy.indexOf(hex('1f43b675'), at + 4)) {
    const time = copy.indexOf(0xe7, at + 4);
    const length = (copy[time + 1] ?? 0) & 0x7f;
    copy.fill(n % 2 ? 0x00 : 0x7f, time + 2, time + 2 + length);
  }
  return copy;
}
