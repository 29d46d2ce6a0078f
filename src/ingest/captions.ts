import { detectMediaType } from '../media/signature.ts';

const WEBVTT = /^\uFEFF?WEBVTT(?=[ \t\r\n]|$)/;

/** The media type of captions: spoken text as a player shows it. */
export const CAPTIONS_TYPE = 'text/vtt';

/** Decides the media type of a track, which may hold captions in place of sound and pictures. */
export function detectTrackType(head: Uint8Array): string {
  const start = new TextDecoder('utf-8', { ignoreBOM: true }).decode(head.subarray(0, 16));
  return WEBVTT.test(start) ? CAPTIONS_TYPE : detectMediaType(head);
}
