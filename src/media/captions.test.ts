import { expect, test } from 'vitest';
import { detectTrackType } from './signature.ts';

const type = (text: string) => detectTrackType(Buffer.from(text));

test.each(['WEBVTT\n\n', 'WEBVTT', '\uFEFFWEBVTT\r\n', 'WEBVTT - Lecture\n', 'WEBVTT\tx'])(
  '%j are captions',
  (text) => {
    expect(type(text)).toBe('text/vtt');
  },
);

test.each(['', 'WEBVTTX\n', ' WEBVTT\n', 'webvtt\n', '1\n00:00:00,000 --> 00:00:01,000\nHello\n'])(
  '%j are not',
  (text) => {
    expect(type(text)).toBe('application/octet-stream');
  },
);

test('recordings keep their types', () => {
  expect(detectTrackType(Buffer.from('fLaC----'))).toBe('audio/flac');
});
