import { deflateSync } from 'node:zlib';
import { type Hostile, latin1, patched, smallClip, uint32, uint32le } from './hostile.ts';

/** Sound files, and the pictures that come with them. */
export async function hostileSound(): Promise<Hostile[]> {
  const [wav, aiff, caf, flac, mp3, aac] = await Promise.all([
    smallClip('wav'),
    smallClip('aiff'),
    smallClip('caf'),
    smallClip('flac'),
    smallClip('mp3'),
    smallClip('aac'),
  ]);
  const files: Record<string, Uint8Array> = {
    'a WAV file with 65535 channels': patched(wav, 'fmt ', 10, Buffer.from([0xff, 0xff])),
    'a WAV file without channels': patched(wav, 'fmt ', 10, Buffer.from([0, 0])),
    'a WAV file with four thousand million samples a second': patched(wav, 'fmt ', 12, uint32le(0xffff_ffff)),
    'a WAV file without a rate': patched(wav, 'fmt ', 12, uint32le(0, 0)),
    'a WAV file with a codec of nobody': patched(wav, 'fmt ', 8, Buffer.from([0x37, 0x13])),
    'a WAV file of chunks without content': Buffer.concat([
      latin1('RIFF\xff\xff\xff\xffWAVE'),
      ...Array.from({ length: 50_000 }, () => latin1('junk\0\0\0\0')),
    ]),
    'a WAV file with nothing but a header': wav.subarray(0, 44),
    'an AIFF file with 65535 channels': patched(aiff, 'COMM', 8, Buffer.from([0xff, 0xff])),
    'an AIFF file with a rate beyond all numbers': patched(aiff, 'COMM', 16, Buffer.alloc(10, 0x7f)),
    'a CAF file with a rate beyond all numbers': patched(caf, 'desc', 12, Buffer.from('7fefffffffffffff', 'hex')),
    'a CAF file with packets of four gigabytes': patched(caf, 'lpcm', 8, uint32(0xffff_ffff, 0xffff_ffff)),
    'a FLAC file with blocks of nothing': patched(flac, 'fLaC', 8, uint32(0)),
    'a FLAC file without a rate': patched(flac, 'fLaC', 18, Buffer.from([0, 0, 0])),
    'a FLAC file with a picture of 30000 by 30000': withPicture(flac),
    'a FLAC file with metadata of 16 megabytes': patched(flac, 'fLaC', 42, Buffer.from([0x04, 0xff, 0xff, 0xff])),
    'an MP3 file with a picture of 30000 by 30000': Buffer.concat([coverTag(pngBomb()), mp3.subarray(45)]),
    'an MP3 file with a tag of 256 megabytes': Buffer.concat([latin1('ID3\x04\0\0\x7f\x7f\x7f\x7f'), mp3]),
    'an MP3 file that says it has four thousand million frames': patched(mp3, 'Info', 8, uint32(0xffff_ffff)),
    'an AAC file of headers only': Buffer.concat(
      Array.from({ length: 2000 }, () => Buffer.from('fff1508000fffc', 'hex')),
    ),
    'an AAC file of noise': Buffer.concat([
      aac.subarray(0, 2000),
      Buffer.from(aac.subarray(2000)).map((byte) => byte ^ 0x33),
    ]),
    'an AMR file of nothing': latin1('#!AMR\n'),
    'an AMR file of noise': Buffer.concat([latin1('#!AMR\n'), Buffer.alloc(2000, 0x7c)]),
  };
  return Object.entries(files).map(([name, bytes]) => ({ name, bytes }));
}

/** A picture of a few kilobytes that unpacks to gigabytes. */
export function pngBomb(side = 30_000): Buffer {
  const row = deflateSync(Buffer.alloc(8 * 2 ** 20), { level: 9 });
  const size = Buffer.concat([uint32(side, side), Buffer.from([8, 6, 0, 0, 0])]);
  return Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), part('IHDR', size), part('IDAT', row), part('IEND')]);
}

/** The checksum is left out: readers that look at it stop here, the others go on. */
function part(type: string, content = Buffer.alloc(0)): Buffer {
  return Buffer.concat([uint32(content.length), latin1(type), content, uint32(0)]);
}

function coverTag(picture: Buffer): Buffer {
  const frame = Buffer.concat([latin1('\0image/png\0\x03\0'), picture]);
  const body = Buffer.concat([latin1('APIC'), uint32(frame.length), Buffer.alloc(2), frame]);
  const size = [21, 14, 7, 0].map((bits) => (body.length >> bits) & 0x7f);
  return Buffer.concat([latin1('ID3\x03\0\0'), Buffer.from(size), body]);
}

function withPicture(flac: Buffer): Buffer {
  const picture = pngBomb();
  const block = Buffer.concat([
    ...[uint32(3, 9), latin1('image/png'), uint32(0, 30_000, 30_000, 32, 0, picture.length), picture],
  ]);
  const header = Buffer.from([0x06, block.length >> 16, block.length >> 8, block.length]);
  return Buffer.concat([flac.subarray(0, 42), header, block, flac.subarray(42)]);
}
