import { expect, test } from 'vitest';
import { captionCues, cutCaptions, readCaptions, strictCaptions } from './captions.ts';
import { detectTrackType } from './media-type.ts';

const type = (text: string) => detectTrackType(Buffer.from(text));

test('captions are known by their first line; recordings keep their types', () => {
  for (const text of ['WEBVTT\n\n', 'WEBVTT', '\uFEFFWEBVTT\r\n', 'WEBVTT - Lecture\n', 'WEBVTT\tx'])
    expect(type(text), text).toBe('text/vtt');
  for (const text of ['', 'WEBVTTX\n', ' WEBVTT\n', 'webvtt\n', '1\n00:00:00,000 --> 00:00:01,000\nHello\n'])
    expect(type(text), text).toBe('application/octet-stream');
  expect(type('fLaC----')).toBe('audio/flac');
});

const read = (text: string) => readCaptions(Buffer.from(text));
const SPOKEN =
  'WEBVTT - Lecture\n\nSTYLE\n::cue { color: red }\n\nhello\n00:01.000 --> 00:03.000 align:left\nGood <00:02.000>morning\n';

test('WebVTT stays as it is, whatever its line ends', () => {
  expect(read(SPOKEN)).toBe(SPOKEN);
  expect(read(`\uFEFF${SPOKEN.replaceAll('\n', '\r\n')}`)).toBe(SPOKEN);
  expect(read('WEBVTT\n00:01.000 --> 00:02.000\nA')).toBe('WEBVTT\n\n00:01.000 --> 00:02.000\nA');
});

test('SubRip becomes WebVTT, with what the one knows and the other does not', () => {
  const text =
    '1\r\n00:00:01,000 --> 00:00:02,500 X1:10\r\n<font color="red">R&D</font> {\\an8}<i>a < b</i>\r\n\r\nsecond --> line\r\n\r\n2\r\n01:00:00,5 --> 01:00:01,000\r\n- Yes\r\n';
  expect(read(text)).toBe(
    'WEBVTT\n\n00:00:01.000 --> 00:00:02.500\nR&amp;D <i>a &lt; b</i>\nsecond --&gt; line\n\n01:00:00.500 --> 01:00:01.000\n- Yes\n',
  );
});

const GREETING = '1\n00:00:01,000 --> 00:00:02,000\nGrüße\n';
test.each<[string, Buffer]>([
  ['UTF-8', Buffer.from(GREETING)],
  ['UTF-16', Buffer.from(`\uFEFF${GREETING}`, 'utf16le')],
  ['UTF-16, bytes swapped', Buffer.from(`\uFEFF${GREETING}`, 'utf16le').swap16()],
  ['Windows-1252', Buffer.from(GREETING, 'latin1')],
])('captions in %s can be read', (_encoding, bytes) => {
  expect(readCaptions(bytes)).toBe('WEBVTT\n\n00:00:01.000 --> 00:00:02.000\nGrüße\n');
});

test.each([
  ...['', 'WEBVTT\n', 'WEBVTT\n\nNOTE nothing\n', 'Hello\n', '<xml/>'],
  'a\nb\nc\n00:00:01,000 --> 00:00:02,000\n',
])('%j holds no captions', (text) => {
  expect(read(text)).toBeUndefined();
});

const STRICT =
  'WEBVTT - Lecture\n\nNOTE of nobody\n\n00:01.000 --> 00:02.500 align:start line:90%\nGood\nmorning\n\n1:00:00.000 --> 1:00:01.000\n';
const ONE = 'WEBVTT\n\n00:00:01.000 --> 00:00:02.000\nA\n';

test.each([
  ['as strict parsers require', STRICT, STRICT],
  ['without any', 'WEBVTT\n\n', 'WEBVTT\n\n'],
  ['with lines below the first one', 'WEBVTT\nKind: captions\nLanguage: en\n\n00:01.000 --> 00:02.000\nA\n', ONE],
  ['with numbers', 'WEBVTT\n\n1\n00:01.000 --> 00:02.000\nA\n', ONE],
  ['with settings of old programs', 'WEBVTT\n\n00:01.000 --> 00:02.000 align:middle\nA', ONE],
  ['with regions and styles', `WEBVTT\n\nREGION\nid:a\n\nSTYLE\n::cue {}\n${ONE.slice(6)}`, ONE],
  [
    'out of order',
    'WEBVTT\n\n0:00:03.5 --> 0:00:04.000\nB\n\n00:01.000 --> 00:02.000\nA\n',
    `${ONE}\n00:00:03.500 --> 00:00:04.000\nB\n`,
  ],
  ['without a length', 'WEBVTT\n\n00:01.000 --> 00:01.000\nA\n', ONE.replace('02.000', '01.001')],
  [
    'with empty lines in them',
    'WEBVTT\n\n00:01.000 --> 00:02.000\n\nA\n\nB --> C\n',
    ONE.replace('A', 'A\nB --&#62; C'),
  ],
  [
    'with formatting',
    ONE.replace('A', '<v Ada><i.loud>A</i> &lt;<00:00:01.500>b\n< c</v>'),
    ONE.replace('A', 'A &#60;b\n< c'),
  ],
  ['with formatting alone in a line', ONE.replace('A', 'A\n<c.loud>\nB</c>'), ONE.replace('A', 'A\nB')],
  [
    'with references to characters',
    ONE.replace('A', 'R&amp;D &amp;&lt;b&gt;&nbsp;--&gt;\n&amp;lt; &amp; so'),
    ONE.replace('A', 'R&D &&#60;b>\u00A0--&#62;\n&#38;lt; & so'),
  ],
])('captions %s are ready for a strict parser', (_, text, expected) => {
  expect(strictCaptions(text)).toBe(expected);
});

test('captions with a million lines are ready for a strict parser', () => {
  const lines = 'x\n'.repeat(2 ** 20);
  expect(strictCaptions(`WEBVTT\n\n00:02.000 --> 00:01.000\nA\n\n${lines}`)).toHaveLength(40 + lines.length);
});

test('the plain text of captions is the same after the editor has had them', () => {
  const captions = ONE.replace('A', '<v Ada>R&amp;D&nbsp;&lt;b&gt; &amp;lt;</v>');
  const plain = [{ begin: 1000, end: 2000, text: 'R&D <b> &lt;\n' }];
  for (const text of [captions, strictCaptions(captions)]) expect(captionCues(text)).toEqual(plain);
});

const KEPT = [
  { begin: 2000, end: 4000 },
  { begin: 10_000, end: 12_500.5 },
];
const cues = (...times: string[]) => `WEBVTT\n\n${times.map((each) => `${each}\nA\n`).join('\n')}`;
/** Times of captions in kept parts, of such as are shortened to them, and of one across the gap; after the cut. */
const MOVED = {
  '00:02.500 --> 00:03.000': '00:00:00.500 --> 00:00:01.000',
  '00:11.000 --> 00:12.000': '00:00:03.000 --> 00:00:04.000',
  '00:01.000 --> 00:03.000': '00:00:00.000 --> 00:00:01.000',
  '00:12.000 --> 09:59:59.000': '00:00:04.000 --> 00:00:04.501',
  '00:03.000 --> 00:11.000': '00:00:01.000 --> 00:00:03.000',
};
const GONE = '00:05.000 --> 00:09.000';

test('captions move with the parts that are kept, and those in what is left out go', () => {
  const cut = cutCaptions(cues(...Object.keys(MOVED), GONE), KEPT);
  expect(cut).toBe(cues(...Object.values(MOVED)));
});

test('captions of which none is left are none', () => {
  expect(cutCaptions(cues(GONE), KEPT)).toBeUndefined();
});

test('name, settings, style and times within a caption survive a cut', () => {
  const moved = SPOKEN.replace('00:01.000 --> 00:03.000', '00:00:00.000 --> 00:00:01.500');
  const cut = cutCaptions(SPOKEN, [{ begin: 1500, end: 9000 }]);
  expect(cut).toBe(moved.replace('<00:02.000>', '<00:00:00.500>'));
});

const SUBRIP = '1\n00:00:01,000 --> 00:00:02,000\n';
/** How long work takes at its fastest, in milliseconds; so little that it cannot be told apart counts as a while. */
function costOf(work: () => unknown): number {
  const times = Array.from({ length: 3 }, () => {
    const begun = performance.now();
    work();
    return performance.now() - begun;
  });
  return Math.max(Math.min(...times), 20);
}

test.each(['{\\', '<font ', '</font '])('ever new %j that never end cost no more than other text', (tag) => {
  const subtitles = (text: string) => `${SUBRIP}${text.repeat(100_000)}`;
  expect(read(subtitles(tag))).toContain('-->');
  const plain = costOf(() => read(subtitles('x'.repeat(tag.length))));
  // By the square it would be thousands of times as much.
  expect(costOf(() => read(subtitles(tag))) / plain).toBeLessThan(100);
});

test('many captions cut into many parts cost little more than cut into one', () => {
  const captions = `WEBVTT\n\n${'00:01.000 --> 59:59.000\nA <00:02.000>b\n\n'.repeat(20_000)}`;
  const parts = Array.from({ length: 100_000 }, (_, i) => ({ begin: i * 30, end: i * 30 + 15 }));
  const few = costOf(() => cutCaptions(captions, [{ begin: 0, end: 3_000_000 }]));
  let cut: string | undefined;
  const many = costOf(() => {
    cut = cutCaptions(captions, parts);
  });
  expect(cut).toContain('00:00:00.505 --> 00:25:00.000\nA <00:00:01.005>b\n');
  // To go through all parts for each caption would be more than a hundred times as much.
  expect(many / few).toBeLessThan(10);
});
