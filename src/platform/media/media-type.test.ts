import { describe, expect, it } from 'vitest';
import { detectMediaType } from './media-type.ts';
import { demuxerFor } from './recording.ts';

const text = (content: string) => new TextEncoder().encode(content);
const bytes = (...values: number[]) => Uint8Array.from(values);

const concat = (...parts: Uint8Array[]) => Uint8Array.from(Buffer.concat(parts));
const ftyp = (brand: string) => concat(bytes(0, 0, 0, 24), text(`ftyp${brand}`), new Uint8Array(12));
const atom = (length: number, name: string) => concat(bytes(0, 0, 0, length), text(name), new Uint8Array(8));

const EBML = bytes(0x1a, 0x45, 0xdf, 0xa3);
function ebml(doctype: string): Uint8Array {
  const version = bytes(0x42, 0x86, 0x81, 1);
  const type = concat(bytes(0x42, 0x82, 0x80 + doctype.length), text(doctype));
  return concat(EBML, bytes(0x9f), version, type);
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

const eightBytes = (length: number) => bytes(0x01, 0, 0, 0, 0, 0, 0, length);
const LONG_LENGTHS = concat(EBML, eightBytes(18), bytes(0x42, 0x82), eightBytes(8), text('matroska'));
const NOTHING = 'application/octet-stream';

describe('detectMediaType', () => {
  it.each([
    ['the brand isom', ftyp('isom'), 'video/mp4'],
    ['the brand mp42', ftyp('mp42'), 'video/mp4'],
    ['the brand qt', ftyp('qt  '), 'video/quicktime'],
    ['the brand M4A', ftyp('M4A '), 'audio/mp4'],
    ['the brand 3gp5', ftyp('3gp5'), 'video/3gpp'],
    ['the brand 3g2a', ftyp('3g2a'), 'video/3gpp2'],
    ['the brand heic', ftyp('heic'), NOTHING],
    ['the brand avif', ftyp('avif'), NOTHING],
    ['QuickTime without a brand', atom(8, 'wide'), 'video/quicktime'],
    ['QuickTime with an impossible length', atom(4, 'moov'), NOTHING],
    ['the document type webm', ebml('webm'), 'video/webm'],
    ['the document type matroska', ebml('matroska'), 'video/x-matroska'],
    ['another document type', ebml('else'), NOTHING],
    ['Matroska with lengths of eight bytes', LONG_LENGTHS, 'video/x-matroska'],
    ['packets of 188 bytes', packets(188, 6), 'video/mp2t'],
    ['packets of 192 bytes', packets(192, 6, 4), 'video/mp2t'],
    ['packets of 204 bytes', packets(204, 6), 'video/mp2t'],
    ['packets that begin in the middle of one', packets(188, 7).subarray(100), 'video/mp2t'],
    ['a WAV file of over 4 GB', text('RF64____WAVEds64'), 'audio/wav'],
    ['an MP3', mp3Frames(3), 'audio/mpeg'],
    ['an MP3 with a tag', concat(id3(300), mp3Frames(3)), 'audio/mpeg'],
    ['a tag longer than what is seen', id3(10_000).subarray(0, 4096), 'audio/mpeg'],
    ['a single frame of an MP3', concat(mp3Frames(1), new Uint8Array(1000)), NOTHING],
    ['FLAC', text('fLaC\0\0\0\x22'), 'audio/flac'],
  ])('%s', (_name, head, type) => {
    expect(detectMediaType(head)).toBe(type);
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
    expect(detectMediaType(text(content))).toBe(NOTHING);
    expect(detectMediaType(text(content.repeat(2000)))).toBe(NOTHING);
  });

  it('has no media type for text that has the sync byte of transport streams at equal distances', () => {
    const line = `G${'file:///etc/passwd?'.padEnd(186, '0')}\n`;
    expect(line.length).toBe(188);
    expect(detectMediaType(text(line.repeat(20)))).toBe(NOTHING);
  });

  it('has no media type for a playlist behind the header of an MP3 frame', () => {
    const playlist = text('#EXTM3U\n#EXTINF:10,\nfile:///etc/passwd\n'.repeat(50));
    expect(detectMediaType(concat(bytes(0xff, 0xfb, 0x90, 0x00), playlist))).toBe(NOTHING);
  });

  it('has no media type for noise', () => {
    for (let seed = 1; seed <= 50; seed++) {
      expect(detectMediaType(noise(16_384, seed)), `seed ${seed}`).toBe(NOTHING);
    }
  });

  it('takes heads cut anywhere', () => {
    const heads = [ftyp('isom'), ebml('webm'), mp3Frames(2), packets(188, 1), text('RIFF____WAVEfmt ')];
    for (const head of heads) {
      for (let length = 0; length < Math.min(head.length, 64); length++)
        expect(() => detectMediaType(head.subarray(0, length))).not.toThrow();
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
