/** Detects formats without a header, in which one frame follows another. */

export const TS_SYNC = 0x47;
const TS_PACKET_SIZES = [188, 192, 204];
const TS_PACKETS = 5;
const FRAMES = 3;

const MP3_BITRATES = {
  // Layers 3, 2 and 1 in kbit/s, by the index in the header.
  mpeg1: [
    [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
    [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
    [0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
  ],
  mpeg2: [
    [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
    [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
    [0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
  ],
};
const MP3_SAMPLE_RATES = [44_100, 48_000, 32_000];
const AC3_BITRATES = [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 576, 640];

/** Returns the media type of headerless formats (MPEG-TS, DV, MP3, ADTS, AC-3). */
export function frameSequenceType(head: Uint8Array): string | undefined {
  if (findTransportPackets(head)) return 'video/mp2t';
  if (isDv(head)) return 'video/x-dv';
  const start = afterId3(head);
  // A tag longer than the head is the cover picture of an MP3.
  if (start >= head.length) return start > 0 && head.length > 0 ? 'audio/mpeg' : undefined;
  if (follows(head, start, adtsFrameLength)) return 'audio/aac';
  if (follows(head, start, mpegAudioFrameLength)) return 'audio/mpeg';
  const ac3 = ac3Type(head, start);
  if (ac3) return ac3;
  return start > 0 ? 'audio/mpeg' : undefined;
}

/** Finds the first packet of a transport stream and the distance to the next. */
export function findTransportPackets(head: Uint8Array): { offset: number; size: number } | undefined {
  // Repetitive text can hold the sync byte at equal distances.
  if (isText(head.subarray(0, TS_PACKETS * 188))) return undefined;
  for (const size of TS_PACKET_SIZES) {
    for (let offset = 0; offset < size; offset++) {
      let packets = 0;
      while (packets < TS_PACKETS && isTransportPacket(head, offset + packets * size)) packets++;
      if (packets === TS_PACKETS) return { offset, size };
    }
  }
  return undefined;
}

/** Requires the sync byte, no transmission error, and a payload or adaptation field. */
function isTransportPacket(head: Uint8Array, at: number): boolean {
  return head[at] === TS_SYNC && ((head[at + 1] ?? 0x80) & 0x80) === 0 && ((head[at + 3] ?? 0) & 0x30) !== 0;
}

function isText(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte >= 0x20 || (byte >= 0x09 && byte <= 0x0d));
}

function isDv(head: Uint8Array): boolean {
  // A header block, then two numbered blocks of subcode.
  const block = (at: number, kind: number, number: number) => head[at] === kind && head[at + 2] === number;
  return block(0, 0x1f, 0) && head[1] === 0x07 && block(80, 0x3f, 0) && block(160, 0x3f, 1);
}

/** Returns the start of the sound: behind an ID3 tag, which MP3 and some other files have. */
export function afterId3(head: Uint8Array): number {
  if (head[0] !== 0x49 || head[1] !== 0x44 || head[2] !== 0x33 || (head[3] ?? 255) > 4) return 0;
  const size = [6, 7, 8, 9].reduce((sum, i) => sum * 128 + ((head[i] ?? 0) & 0x7f), 0);
  return 10 + size;
}

/** Returns true if frames with the lengths in their headers follow one another, at least to the end of the head. */
function follows(head: Uint8Array, start: number, lengthOf: (head: Uint8Array, at: number) => number): boolean {
  let at = start;
  for (let frames = 0; frames < FRAMES; frames++) {
    if (frames > 0 && at >= head.length) return true;
    const length = lengthOf(head, at);
    if (length === 0) return false;
    at += length;
  }
  return true;
}

/** Returns the length of the MP3, ADTS or AC-3 frame at a position; 0 if none begins there. */
export function audioFrameLength(bytes: Uint8Array, at: number): number {
  return mpegAudioFrameLength(bytes, at) || adtsFrameLength(bytes, at) || ac3Length(bytes, at);
}

function mpegAudioFrameLength(head: Uint8Array, at: number): number {
  const [b0 = 0, b1 = 0, b2 = 0] = head.subarray(at, at + 3);
  if (b0 !== 0xff || (b1 & 0xe0) !== 0xe0) return 0;
  const version = (b1 >> 3) & 3; // 3: MPEG-1, 2: MPEG-2, 0: MPEG-2.5
  const layer = (b1 >> 1) & 3; // 3: layer 1, 2: layer 2, 1: layer 3
  const sampleRate = (MP3_SAMPLE_RATES[(b2 >> 2) & 3] ?? 0) / (version === 3 ? 1 : version === 2 ? 2 : 4);
  const table = version === 3 ? MP3_BITRATES.mpeg1 : MP3_BITRATES.mpeg2;
  const bitrate = (table[layer - 1]?.[b2 >> 4] ?? 0) * 1000;
  if (version === 1 || layer === 0 || !sampleRate || !bitrate) return 0;
  const padding = (b2 >> 1) & 1;
  if (layer === 3) return (Math.floor((12 * bitrate) / sampleRate) + padding) * 4;
  const factor = layer === 1 && version !== 3 ? 72 : 144;
  return Math.floor((factor * bitrate) / sampleRate) + padding;
}

function adtsFrameLength(head: Uint8Array, at: number): number {
  const [b0 = 0, b1 = 0, b2 = 0, b3 = 0, b4 = 0, b5 = 0] = head.subarray(at, at + 6);
  if (b0 !== 0xff || (b1 & 0xf6) !== 0xf0 || ((b2 >> 2) & 15) > 12) return 0;
  const length = ((b3 & 3) << 11) | (b4 << 3) | (b5 >> 5);
  return length >= 7 ? length : 0;
}

function ac3Type(head: Uint8Array, at: number): string | undefined {
  const length = ac3Length(head, at);
  if (length === 0 || !isAc3(head, at + length)) return undefined;
  return isExtended(head, at) ? 'audio/eac3' : 'audio/ac3';
}

function ac3Length(head: Uint8Array, at: number): number {
  if (!isAc3(head, at)) return 0;
  return isExtended(head, at) ? eac3FrameLength(head, at) : ac3FrameLength(head[at + 4] ?? 0);
}

function isAc3(head: Uint8Array, at: number): boolean {
  return head[at] === 0x0b && head[at + 1] === 0x77;
}

function isExtended(head: Uint8Array, at: number): boolean {
  return (head[at + 5] ?? 0) >> 3 > 10;
}

function ac3FrameLength(b4: number): number {
  const bitrate = AC3_BITRATES[(b4 & 0x3f) >> 1] ?? 0;
  const rate = b4 >> 6;
  if (rate === 0) return bitrate * 4;
  if (rate === 1) return (Math.floor((bitrate * 320) / 147) + (b4 & 1)) * 2;
  return rate === 2 ? bitrate * 6 : 0;
}

function eac3FrameLength(head: Uint8Array, at: number): number {
  return ((((head[at + 2] ?? 0) & 7) << 8) + (head[at + 3] ?? 0) + 1) * 2;
}
