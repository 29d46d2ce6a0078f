import { frameSequenceType } from './completeness/frame-sequence.ts';

const UNKNOWN_TYPE = 'application/octet-stream';

export const CAPTIONS_TYPE = 'text/vtt';

/** The number of bytes that `detectMediaType` reads at most. */
export const HEAD_BYTES = 65_536;

const WEBVTT = /^\uFEFF?WEBVTT(?=[ \t\r\n]|$)/;
const EBML_DOCTYPE = [0x42, 0x82];
const ASF_HEADER = [0x30, 0x26, 0xb2, 0x75, 0x8e, 0x66, 0xcf, 0x11, 0xa6, 0xd9];
const MXF_PARTITION = [0x06, 0x0e, 0x2b, 0x34, 0x02, 0x05, 0x01, 0x01, 0x0d, 0x01, 0x02, 0x01, 0x01];

const QUICKTIME_FIRST_BOXES = ['moov', 'mdat', 'wide', 'free', 'skip', 'pnot'];
/** Brands of still pictures in the same container. */
const IMAGE_BRANDS = /^(avi[fs]|hei[cmsx]|hev[cmsx]|mif[12]|msf1|crx |jp[2xm] )$/;

/**
 * Returns the media type of a recording from its first bytes (up to `HEAD_BYTES`).
 *
 * Playlists, scripts, descriptions and pictures are `application/octet-stream`, like everything that is not known to
 * hold sound or moving pictures itself.
 */
export function detectMediaType(head: Uint8Array): string {
  return (
    isoType(head) ??
    matroskaType(head) ??
    riffType(head) ??
    oggType(head) ??
    magicType(head) ??
    frameSequenceType(head) ??
    UNKNOWN_TYPE
  );
}

/** Returns the media type of a track, which may also hold captions. */
export function detectTrackType(head: Uint8Array): string {
  const start = new TextDecoder('utf-8', { ignoreBOM: true }).decode(head.subarray(0, 16));
  return WEBVTT.test(start) ? CAPTIONS_TYPE : detectMediaType(head);
}

function isoType(head: Uint8Array): string | undefined {
  const type = ascii(head, 4, 8);
  if (type === 'ftyp') return isoBrandType(ascii(head, 8, 12));
  if (!QUICKTIME_FIRST_BOXES.includes(type)) return undefined;
  const size = uint32(head, 0);
  return size <= 1 || size >= 8 ? 'video/quicktime' : undefined;
}

function isoBrandType(brand: string): string | undefined {
  if (IMAGE_BRANDS.test(brand)) return undefined;
  if (brand === 'qt  ') return 'video/quicktime';
  if (/^M4[ABP] $/.test(brand)) return 'audio/mp4';
  if (brand.startsWith('3g2')) return 'video/3gpp2';
  if (brand.startsWith('3g')) return 'video/3gpp';
  return 'video/mp4';
}

function matroskaType(head: Uint8Array): string | undefined {
  if (!startsWith(head, [0x1a, 0x45, 0xdf, 0xa3])) return undefined;
  for (let at = 5; at < Math.min(head.length, 128) - 3; at++) {
    if (!startsWith(head, EBML_DOCTYPE, at)) continue;
    // Some programs write every length with eight bytes.
    const size = Math.max(1, Math.clz32(head[at + 2] ?? 0) - 23);
    const start = at + 2 + size;
    const length = size === 1 ? (head[at + 2] ?? 0) & 0x7f : (head[start - 1] ?? 0);
    const doctype = ascii(head, start, start + length).replace(/\0+$/, '');
    if (doctype === 'webm') return 'video/webm';
    if (doctype === 'matroska') return 'video/x-matroska';
  }
  return undefined;
}

function riffType(head: Uint8Array): string | undefined {
  const form = ascii(head, 8, 12);
  switch (ascii(head, 0, 4)) {
    case 'RIFF':
    case 'RF64':
      if (form === 'WAVE') return 'audio/wav';
      return form === 'AVI ' ? 'video/x-msvideo' : undefined;
    case 'FORM':
      return form === 'AIFF' || form === 'AIFC' ? 'audio/aiff' : undefined;
    default:
      return undefined;
  }
}

function oggType(head: Uint8Array): string | undefined {
  if (ascii(head, 0, 4) !== 'OggS') return undefined;
  // The first pages hold one header for each stream.
  return ascii(head, 0, 4096).includes('\x80theora') ? 'video/ogg' : 'audio/ogg';
}

function magicType(head: Uint8Array): string | undefined {
  if (ascii(head, 0, 4) === 'fLaC') return 'audio/flac';
  if (ascii(head, 0, 4) === 'FLV\x01') return 'video/x-flv';
  if (ascii(head, 0, 4) === 'caff') return 'audio/x-caf';
  if (/^#!AMR(-WB)?\n/.test(ascii(head, 0, 9))) return 'audio/amr';
  if (startsWith(head, ASF_HEADER)) return 'video/x-ms-asf';
  if (startsWith(head, MXF_PARTITION)) return 'application/mxf';
  if (startsWith(head, [0x00, 0x00, 0x01, 0xba])) return 'video/mpeg';
  return undefined;
}

function startsWith(head: Uint8Array, bytes: readonly number[], at = 0): boolean {
  return bytes.every((byte, i) => head[at + i] === byte);
}

function ascii(head: Uint8Array, start: number, end: number): string {
  return String.fromCharCode(...head.subarray(start, end));
}

function uint32(head: Uint8Array, at: number): number {
  return head.length < at + 4 ? 0 : new DataView(head.buffer, head.byteOffset).getUint32(at);
}
