import { describe, expect, it } from 'vitest';
import { demuxerFor } from './demuxer.ts';
import { detectMediaType } from './signature.ts';

const text = (content: string) => new TextEncoder().encode(content);
const bytes = (...values: number[]) => Uint8Array.from(values);

function concat(...parts: Uint8Array[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

function ftyp(brand: string): Uint8Array {
  return concat(bytes(0, 0, 0, 24), text(`ftyp${brand}`), new Uint8Array(12));
}

function ebml(doctype: string): Uint8Array {
  const version = bytes(0x42, 0x86, 0x81, 1);
  return concat(
    bytes(0x1a, 0x45, 0xdf, 0xa3, 0x9f),
    version,
    bytes(0x42, 0x82, 0x80 + doctype.length),
    text(doctype),
  );
}

/** Frames of 417 bytes: MPEG-1 layer 3, 128 kbit/s, 44.1 kHz. */
function mp3Frames(count: number): Uint8Array {
  const frame = new Uint8Array(417);
  frame.set([0xff, 0xfb, 0x90, 0x00]);
  return concat(...Array.from({ length: count }, () => frame));
}

function id3(size: number): Uint8Array {
  const tag = new Uint8Array(10 + size);
  tag.set([...text('ID3'), 3, 0, 0, 0, 0, size >> 7, size & 0x7f]);
  return tag;
}

function packets(size: number, count: number, offset = 0): Uint8Array {
  const stream = new Uint8Array(size * count).fill(0xaa);
  for (let i = 0; i < count; i++) stream.set([0x47, 0x40, 0x00, 0x10], i * size + offset);
  return stream;
}

/** Reproducible bytes without any structure. */
function noise(length: number, seed: number): Uint8Array {
  let state = seed;
  return Uint8Array.from({ length }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state >>> 24;
  });
}

describe('detectMediaType', () => {
  it.each([
    ['isom', 'video/mp4'],
    ['mp42', 'video/mp4'],
    ['qt  ', 'video/quicktime'],
    ['M4A ', 'audio/mp4'],
    ['3gp5', 'video/3gpp'],
    ['3g2a', 'video/3gpp2'],
    ['heic', 'application/octet-stream'],
    ['avif', 'application/octet-stream'],
  ])('reads the brand %s as %s', (brand, expected) => {
    expect(detectMediaType(ftyp(brand))).toBe(expected);
  });

  it('knows QuickTime files that are older than brands', () => {
    expect(detectMediaType(concat(bytes(0, 0, 0, 8), text('wide'), new Uint8Array(8)))).toBe(
      'video/quicktime',
    );
    expect(detectMediaType(concat(bytes(0, 0, 0, 4), text('moov'), new Uint8Array(8)))).toBe(
      'application/octet-stream',
    );
  });

  it.each([
    ['webm', 'video/webm'],
    ['matroska', 'video/x-matroska'],
    ['else', 'application/octet-stream'],
  ])('reads the document type %s as %s', (doctype, expected) => {
    expect(detectMediaType(ebml(doctype))).toBe(expected);
  });

  it('knows Matroska whose lengths are written with eight bytes', () => {
    const long = (length: number) => bytes(0x01, 0, 0, 0, 0, 0, 0, length);
    const header = concat(bytes(0x42, 0x82), long(8), text('matroska'));
    expect(detectMediaType(concat(bytes(0x1a, 0x45, 0xdf, 0xa3), long(18), header))).toBe('video/x-matroska');
  });

  it.each([
    ['188', packets(188, 6)],
    ['192', packets(192, 6, 4)],
    ['204', packets(204, 6)],
  ])('knows transport streams with packets of %s bytes', (_size, stream) => {
    expect(detectMediaType(stream)).toBe('video/mp2t');
  });

  it('knows an MP3 with and without a tag, and with a tag longer than what it sees', () => {
    expect(detectMediaType(mp3Frames(3))).toBe('audio/mpeg');
    expect(detectMediaType(concat(id3(300), mp3Frames(3)))).toBe('audio/mpeg');
    expect(detectMediaType(id3(10_000).subarray(0, 4096))).toBe('audio/mpeg');
  });

  it('knows a FLAC file by what follows its tag no more than an MP3 by a single frame', () => {
    expect(detectMediaType(text('fLaC\0\0\0\x22'))).toBe('audio/flac');
    expect(detectMediaType(concat(mp3Frames(1), new Uint8Array(1000)))).toBe('application/octet-stream');
  });

  it.each([
    ['an HLS playlist', '#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\nfile:///etc/passwd\n'],
    ['a concat script', "ffconcat version 1.0\nfile '/etc/passwd'\n"],
    ['a session description', 'v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nm=video 5000 RTP/AVP 96\n'],
    ['a DASH manifest', '<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011"></MPD>'],
    ['a web page', '<!doctype html><video src="file:///etc/passwd"></video>'],
    ['an image sequence script', 'imagesequence\n/etc/passwd\n'],
    ['nothing', ''],
  ])('has no media type for %s', (_name, content) => {
    expect(detectMediaType(text(content))).toBe('application/octet-stream');
    expect(detectMediaType(text(content.repeat(2000)))).toBe('application/octet-stream');
  });

  it('has no media type for text that has the sync byte of transport streams at equal distances', () => {
    const line = `G${'file:///etc/passwd?'.padEnd(186, '0')}\n`;
    expect(line.length).toBe(188);
    expect(detectMediaType(text(line.repeat(20)))).toBe('application/octet-stream');
  });

  it('has no media type for noise', () => {
    for (let seed = 1; seed <= 50; seed++) {
      expect(detectMediaType(noise(16_384, seed)), `seed ${seed}`).toBe('application/octet-stream');
    }
  });

  it('takes heads cut anywhere', () => {
    for (const head of [
      ftyp('isom'),
      ebml('webm'),
      mp3Frames(2),
      packets(188, 1),
      text('RIFF____WAVEfmt '),
    ]) {
      for (let length = 0; length < Math.min(head.length, 64); length++) {
        expect(() => detectMediaType(head.subarray(0, length))).not.toThrow();
      }
    }
  });
});

describe('demuxerFor', () => {
  it('names one for media types and none for anything else', () => {
    expect(demuxerFor('video/webm')).toBe('matroska');
    expect(demuxerFor('application/octet-stream')).toBeUndefined();
    expect(demuxerFor('application/vnd.apple.mpegurl')).toBeUndefined();
    expect(demuxerFor('constructor')).toBeUndefined();
  });
});
