/** The files of the stand-in for the reference server: small and real, and different for each address. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { runTool } from '#platform/media/tools/run-tool.ts';
import { clip, clipFolder, testTools } from './clips.ts';

export type FileKind = 'mp4' | 'ts' | 'm3u8' | 'vtt' | 'jpg' | 'xml';

export const MEDIATYPES: Record<FileKind, string> = {
  ...{ mp4: 'video/mp4', ts: 'video/mp2t', m3u8: 'application/x-mpegURL', vtt: 'text/vtt' },
  ...{ jpg: 'image/jpeg', xml: 'text/xml' },
};

const SMALL = { seconds: 2, video: { size: '160x120', rate: 10 }, audio: { channels: 1, rate: 22_050 } } as const;
const PATH_DIGITS = 32;

let recordings: Promise<Record<'mp4' | 'ts' | 'jpg', Buffer>> | undefined;

async function makeRecordings() {
  const [mp4, ts] = await Promise.all([clip(SMALL), clip({ ...SMALL, container: 'ts' })]);
  const jpg = `${clipFolder()}/reference.jpg`;
  const { ffmpeg } = await testTools();
  await runTool(ffmpeg, ['-nostdin', '-v', 'error', '-i', mp4, '-frames:v', '1', '-y', jpg], { timeLimitMs: 60_000 });
  return { mp4: await readFile(mp4), ts: await readFile(ts), jpg: await readFile(jpg) };
}

export async function referenceFiles() {
  recordings ??= makeRecordings();
  const made = await recordings;
  const hashes = { mp4: md5Of(made.mp4), ts: md5Of(made.ts), jpg: md5Of(made.jpg) };
  /** Returns what is common to all files of a kind, and what follows it at an address. */
  const partsOf = (kind: FileKind, address: string): [common: 'mp4' | 'ts' | 'jpg' | undefined, own: Buffer] => {
    const mark = createHash('md5').update(address).digest('hex');
    if (kind === 'mp4') return [kind, freeBox(mark)];
    if (kind === 'ts') return [kind, Buffer.alloc(0)];
    // Bytes after the end of an image are ignored.
    if (kind === 'jpg') return [kind, Buffer.from(mark)];
    return [undefined, Buffer.from(TEXTS[kind](mark, address))];
  };
  return {
    /** Returns the file at an address. */
    content(kind: FileKind, address: string): Buffer {
      const [common, own] = partsOf(kind, address);
      return common ? Buffer.concat([made[common], own]) : own;
    },
    /** Returns the size and the digest of the file at an address, without hashing all of it. */
    facts(kind: FileKind, address: string): { size: number; md5: string } {
      const [common, own] = partsOf(kind, address);
      const hash = common ? hashes[common].copy() : createHash('md5');
      return { size: (common ? made[common].length : 0) + own.length, md5: hash.update(own).digest('hex') };
    },
  };
}

const md5Of = (content: Buffer) => createHash('md5').update(content);

/** A box that players skip. */
function freeBox(mark: string): Buffer {
  const box = Buffer.alloc(8 + PATH_DIGITS);
  box.writeUInt32BE(box.length, 0);
  box.write(`free${mark}`, 4);
  return box;
}

const TEXTS: Record<'m3u8' | 'vtt' | 'xml', (mark: string, address: string) => string> = {
  m3u8: (_, address) => (address.includes('/master') ? MASTER : VARIANT),
  vtt: (mark) => `WEBVTT\n\n00:00:00.000 --> 00:00:01.500\nGood morning (${mark})\n`,
  xml: (mark) =>
    `<?xml version="1.0" encoding="UTF-8"?><dublincore xmlns="http://www.opencastproject.org/xsd/1.0/dublincore/" xmlns:dcterms="http://purl.org/dc/terms/"><dcterms:title>${mark}</dcterms:title></dublincore>`,
};

const MASTER = '#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=200000,RESOLUTION=160x120\n../variant/variant.m3u8\n';
const VARIANT = `#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:2\n${Array.from(
  { length: 6 },
  (_, i) => `#EXT-X-DISCONTINUITY\n#EXTINF:2.0,\n../segment-${i}/segment-${i}.ts\n`,
).join('')}#EXT-X-ENDLIST\n`;
