import { gzipSync } from 'node:zlib';
import { bytes } from '../../support/bytes.ts';
import { zipOf } from '../../support/zip.ts';
import { type Hostile, latin1, smallClip, uint32 } from './hostile.ts';
import { pngBomb } from './sound.ts';

/** What is no recording, but called one: texts that name other files and hosts, pictures, archives. */
export async function otherFiles(outside: string): Promise<Hostile[]> {
  const mp4 = await smallClip('mp4');
  const files: Record<string, Uint8Array> = {
    'an HLS playlist': latin1(
      `#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n${outside}a.ts\n#EXTINF:1,\nfile:///etc/passwd\n`,
    ),
    'an HLS playlist behind a mark of its coding': latin1(`\xef\xbb\xbf#EXTM3U\n#EXTINF:1,\n${outside}a.ts\n`),
    'a concat script': latin1(`ffconcat version 1.0\nfile '/etc/passwd'\nfile '${outside}a.mp4'\n`),
    'an address to be concatenated': latin1(`concat:/etc/passwd|${outside}a.mp4`),
    'an SDP description': latin1(
      `v=0\no=- 0 0 IN IP4 127.0.0.1\nc=IN IP4 127.0.0.1\nm=video ${port(outside)} RTP/AVP 96\n`,
    ),
    'a DASH manifest': latin1(`<?xml version="1.0"?><MPD><BaseURL>${outside}</BaseURL><Period/></MPD>`),
    'a SMIL file': latin1(`<smil><body><video src="${outside}a.mp4"/></body></smil>`),
    'an ASX playlist': latin1(`<ASX version="3.0"><ENTRY><REF HREF="${outside}a.wmv"/></ENTRY></ASX>`),
    'a QuickTime link': latin1(`RTSPtext\r\nrtsp://127.0.0.1:${port(outside)}/a\r\n`),
    'subtitles that name a file': latin1('# VobSub index file, v7\nid: en, index: 0\nfile: /etc/passwd\n'),
    'an image sequence': latin1('/tmp/%d.png'),
    'an MP4 that is a playlist as well': Buffer.concat([mp4.subarray(0, 4), latin1(`#EXTM3U\n${outside}a.ts\n`), mp4]),
    'a playlist as long as packets': latin1(`#EXTM3U\n${`G${'#'.repeat(186)}\n`.repeat(40)}${outside}a.ts\n`),
    'a web page': latin1('<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head></html>'),
    'an answer in JSON': latin1('{"error":"not found"}'),
    'a single byte': latin1('\0'),
    'a text': latin1('The lecture was cancelled.\n'.repeat(1000)),
    zeros: Buffer.alloc(100_000),
    'random bytes': bytes(100_000),
    'a picture of 30000 by 30000': pngBomb(),
    'an animation of a hundred thousand frames': Buffer.concat([
      latin1('GIF89a\xff\xff\xff\xff\x80\0\0\0\0\0\xff\xff\xff'),
      ...Array.from({ length: 100_000 }, () => latin1('\x2c\0\0\0\0\x01\0\x01\0\0\x02\x02\x44\x01\0')),
    ]),
    'a still in a container for films': Buffer.concat([uint32(24), latin1('ftypheic\0\0\0\0heicmif1')]),
    'a drawing that reads files': latin1(
      '<svg xmlns="http://www.w3.org/2000/svg"><image href="file:///etc/passwd"/></svg>',
    ),
    'a drawing full of entities': latin1(`<?xml version="1.0"?>${LAUGHS}<svg>&i;</svg>`),
    'an archive of an archive of zeros': zipped('a.zip', zipped('a.mp4', Buffer.alloc(32 * MIB))),
    'a document that is a script as well': latin1(`%PDF-1.7\n#!/bin/sh\ncat /etc/passwd\n${'%'.repeat(500)}`),
    'texts as if they were frames of sound': latin1(`ID3\x03\0\0\0\0\0\x0a${'not a frame '.repeat(500)}`),
    'an archive': latin1(`PK\x03\x04${'\0'.repeat(100)}`),
    'an archive that unpacks to gigabytes': gzipSync(Buffer.alloc(64 * 2 ** 20), { level: 9 }),
    'a program': latin1(`\x7fELF\x02\x01\x01${'\0'.repeat(100)}`),
    'a NUT header with a hundred thousand streams': latin1(
      `nut/multimedia container\0NM\x7a\x56\x1f\x5f\x04\xad${'\x86\xa0'.repeat(9)}`,
    ),
  };
  const named = Object.entries(files).map(([name, content]): Hostile => ({ name, bytes: content, ends: 'FAILED' }));
  // What players skip at its end is an archive; which it is, its beginning says.
  const both = Buffer.concat([mp4, zipped('a.html', Buffer.from('<script>alert(1)</script>'))]);
  const polyglot: Hostile = { name: 'an MP4 that is an archive as well', bytes: both, ends: 'SUCCEEDED' };
  return [...named, polyglot, ...captions(outside)];
}

const MIB = 2 ** 20;
const SUBRIP = '1\n00:00:00,000 --> 00:00:01,000\n';

function zipped(name: string, content: Buffer): Buffer {
  return zipOf([{ name, content, deflated: true }]);
}

const LAUGHS = `<!DOCTYPE x [<!ENTITY a "ha">${Array.from('bcdefghi')
  .map((letter, i) => `<!ENTITY ${letter} "${`&${'abcdefgh'[i]};`.repeat(10)}">`)
  .join('')}]>`;

/** Nobody looks into captions but the browsers that show them; they are given out as what they are. */
function captions(outside: string): Hostile[] {
  const files: Record<string, string | Uint8Array> = {
    'that unpack to gigabytes': gzipSync(Buffer.alloc(16 * 2 ** 20), { level: 9 }),
    'full of entities': `<?xml version="1.0"?>${LAUGHS}<tt xmlns="http://www.w3.org/ns/ttml">&i;</tt>`,
    'that name another file': `<!DOCTYPE tt [<!ENTITY e SYSTEM "${outside}e">]><tt>&e;</tt>`,
    'with times that make no sense': `WEBVTT\n\n99:99:99.999 --> 00:00:00.000\n<script>alert(1)</script>\n${'-->'.repeat(1000)}\n`,
    'of a single line': `WEBVTT ${'x'.repeat(200_000)}`,
    'of nothing but beginnings': `${SUBRIP}${'{\\'.repeat(MIB)}\n${'<font '.repeat(MIB / 2)}`,
    'of nothing but line ends': `${SUBRIP}${'\n'.repeat(4 * MIB)}`,
    'without number': `WEBVTT\n\n${'0:1.0-->59:0.0\n<0:2.0>\n\n'.repeat(MIB / 8)}`,
  };
  return Object.entries(files).map(([name, content]) => ({
    name: `captions ${name}`,
    bytes: typeof content === 'string' ? Buffer.from(content) : content,
    field: 'captions',
    filename: 'captions.vtt',
  }));
}

function port(address: string): string {
  return new URL(address).port;
}
