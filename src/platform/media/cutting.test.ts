import { describe, expect, it } from 'vitest';
import { cutSound, PictureCut, piecewise } from './cut-filters.ts';
import { InvalidCutting, parseCutting, partsWithin, readFor } from './cutting.ts';

const smil = (body: string) => `<smil xmlns="http://www.w3.org/ns/SMIL"><body>${body}</body></smil>`;
const clip = (begin: string, end: string) => smil(`<par><video clipBegin="${begin}" clipEnd="${end}"/></par>`);
const part = (begin: number, end: number) => `<par><video clipBegin="${begin}s" clipEnd="${end}s"/></par>`;

describe('a cutting catalog', () => {
  it('is read as a browser recorder writes it', () => {
    const text = `
    <smil xmlns="http://www.w3.org/ns/SMIL">
      <body>
        <par>
          <video src="video.webm" clipBegin="1.5s" clipEnd="1.7976931348623157e+308s" />
        </par>
      </body>
    </smil>`;
    expect(parseCutting(text)).toEqual([{ begin: 1500 }]);
    expect(parseCutting(clip('0s', '2.25s'))).toEqual([{ begin: 0, end: 2250 }]);
  });

  it('is read as the reference editor writes it, with an element for each track', () => {
    const text = `<?xml version="1.0" encoding="UTF-8" standalone="no"?>
    <smil:smil xmlns:smil="http://www.w3.org/ns/SMIL" xmlns:oc="http://smil.opencastproject.org" version="3.0">
      <smil:head xml:id="h"><smil:paramGroup xml:id="pg"><smil:param name="track-id" value="1"/></smil:paramGroup></smil:head>
      <smil:body xml:id="b">
        <smil:par xml:id="par-1">
          <smil:video clipBegin="0ms" clipEnd="1500ms" paramGroup="pg" src="a.mp4"/>
          <smil:audio clipBegin="0ms" clipEnd="1490ms" paramGroup="pg" src="b.m4a"/>
        </smil:par>
        <smil:par xml:id="par-2">
          <smil:ref clipBegin="3000ms" clipEnd="4500ms" src="a.mp4"/>
          <smil:ref clipBegin="3000ms" clipEnd="4500ms" src="b.m4a"/>
        </smil:par>
      </smil:body>
    </smil:smil>`;
    expect(parseCutting(text)).toEqual([
      { begin: 0, end: 1500 },
      { begin: 3000, end: 4500 },
    ]);
  });

  it.each([
    ['0.0s', 0],
    ['1500ms', 1500],
    ['1.5', 1500],
    ['npt=1.5s', 1500],
    ['npt=00:00:01.5', 1500],
    ['01:02.5', 62_500],
    ['00:01:02.5', 62_500],
    ['1.5min', 90_000],
    ['1h', 3_600_000],
    ['1.1s', 1100],
    ['0.0333333333s', 33.333],
  ])('takes the time %s', (written, ms) => {
    expect(parseCutting(clip(written, '2h'))).toEqual([{ begin: ms, end: 7_200_000 }]);
  });

  it('takes the older names, and what says no time', () => {
    const older = smil('<video clip-begin="1s" clip-end="2s"/><seq><ref clipBegin="3s"/></seq>');
    expect(parseCutting(older)).toEqual([{ begin: 1000, end: 2000 }, { begin: 3000 }]);
    expect(parseCutting(smil('<par><video src="a"/></par>'))).toEqual([{ begin: 0 }]);
    // Parts may touch.
    expect(parseCutting(smil(part(1, 2) + part(2, 3)))).toHaveLength(2);
  });

  const OVERLAP = smil(part(1, 3) + part(2, 4));
  const AFTER_OPEN = smil(`<par><video clipBegin="1s"/></par>${part(2, 4)}`);
  const APART = smil('<par><video clipBegin="1s"/><audio clipBegin="2s"/></par>');
  const MANY = smil(Array.from({ length: 1001 }, (_, i) => part(i, i + 1)).join(''));
  const tooSoon = (end: string) => `part 2 begins at 2 s, but the one before it ends at ${end}`;
  it.each([
    ['nothing to keep', smil('<par/>'), 'it keeps no part of the recording'],
    ['another document', '<a/>', 'it is not a SMIL document with a body'],
    ['no XML', 'x', 'it does not begin with an element'],
    ['a part that ends early', clip('2s', '1.5s'), 'part 1 ends at 1.5 s, not after its beginning at 2 s'],
    ['an empty part', clip('2s', '2s'), 'part 1 ends at 2 s, not after its beginning at 2 s'],
    ['parts that overlap', OVERLAP, tooSoon('3 s')],
    ['a part after an open one', AFTER_OPEN, tooSoon('the end of the recording')],
    ['a time below zero', clip('-1s', '2s'), 'a part has the invalid time "-1s"'],
    ['no number', clip('NaNs', '2s'), 'a part has the invalid time "NaNs"'],
    ['frames', clip('smpte=00:00:01:02', '2s'), 'a part has the invalid time "smpte=00:00:01:02"'],
    ['a beginning without end', clip('1e308s', '2s'), 'a part begins at "1e308s"'],
    ['tracks that begin apart', APART, 'the media of a "par" do not all begin at the same time'],
    ['too many parts', MANY, 'it has more than 1000 parts'],
  ])('is refused with %s', (_, text, reason) => {
    expect(() => parseCutting(text)).toThrow(new InvalidCutting(reason));
  });
});

it('a filter compares as often as a thousand stretches can be halved', () => {
  const stretches = Array.from({ length: 1000 }, (_, i) => ({ until: i + 1, value: `${i}` }));
  let [open, deepest] = [0, 0];
  for (const sign of piecewise('t', stretches)) {
    open += Number(sign === '(') - Number(sign === ')');
    deepest = Math.max(deepest, open);
  }
  expect(deepest).toBeLessThanOrEqual(11);
  expect(piecewise('t', stretches.slice(0, 2))).toBe('if(lt(t,1),0,1)');
});

it('a thousand parts of a long recording fit into one argument of a process', () => {
  const parts = Array.from({ length: 1000 }, (_, i) => ({
    begin: i * 80_000 + 1234.567,
    end: i * 80_000 + 70_001.2,
  }));
  const pictures = new PictureCut(parts, 59.94);
  for (let second = 0; second < 80_000; second++) pictures.add(second + 0.123);
  const filters = [pictures.filters().join(','), cutSound(parts, 48_000).join(',')];
  for (const filter of filters) expect(filter.length).toBeLessThan(120_000);
});

it('what is kept is clipped to what there is, and joins what touches', () => {
  const parts = [{ begin: 0, end: 1000 }, { begin: 1000, end: 2000 }, { begin: 3000 }];
  expect(partsWithin(parts, 5000)).toEqual([
    { begin: 0, end: 2000 },
    { begin: 3000, end: 5000 },
  ]);
  expect(partsWithin(parts, 1500)).toEqual([{ begin: 0, end: 1500 }]);
  expect(partsWithin([{ begin: 1500 }], 1500)).toEqual([]);
  expect(partsWithin([{ begin: 1490 }], 1500)).toEqual([]);
  // It is read up to the end of its last part.
  const [video, last] = [undefined, [{ begin: 500, end: 1000 }]];
  expect(readFor({ duration: 4000, video }, last)).toEqual({ duration: 1000, video });
});
