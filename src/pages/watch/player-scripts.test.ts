import { expect, test } from 'vitest';
import { publishedElement } from '#test/support/publication.ts';
import { bestWithin, LineMeter, shareLine } from './browser/line-share.js';
import { embedCode } from './browser/share.js';
import { parseTime, startTime, withStartTime } from './browser/start-time.js';
import { qualityOf } from './player-media.ts';

test.each([
  ['90', 90],
  ['90s', 90],
  ['1m30s', 90],
  ['1m', 60],
  ['1h2m3s', 3723],
  ['30s1m', 90],
  [' 2M ', 120],
  ['00:01:30', 90],
  ['1:02:03.5', 3723.5],
  ['1:30', 90],
  ['7.5', 7.5],
  ['0', 0],
  ['', undefined],
  ['soon', undefined],
  ['1:30s', undefined],
  ['1:2:3:4', undefined],
  ['-5', undefined],
  [null, undefined],
])('the position %j is %s seconds', (text, seconds) => {
  expect(parseTime(text)).toBe(seconds);
});

test('the query of an address names the position, or else its fragment', () => {
  expect(startTime(new URL('http://x/watch/1?t=1m30s#t=5'))).toBe(90);
  expect(startTime(new URL('http://x/watch/1#t=5'))).toBe(5);
  expect(startTime(new URL('http://x/watch/1#time=00:01:30'))).toBe(90);
  expect(startTime(new URL('http://x/watch/1?t=x'))).toBeUndefined();
  expect(startTime(new URL(`http://x/watch/1?t=${'9'.repeat(400)}#t=5`))).toBe(5);
});

test.each([
  ['http://x/watch/1', 90.7, 'http://x/watch/1?t=90'],
  ['http://x/watch/1?t=5#top', 0.4, 'http://x/watch/1'],
  ['http://x/watch/1?policy=p&signature=s', 90, 'http://x/watch/1?policy=p&signature=s#t=90'],
])('the link of %s at %d seconds is %s', (address, seconds, link) => {
  expect(withStartTime(new URL(address), seconds)).toBe(link);
});

test('the snippet for other sites quotes the title and allows what the player needs', () => {
  const code = embedCode(new URL('http://x/embed/1'), '"Sets" & <groups>');
  expect(code).toContain('src="http://x/embed/1" title="&quot;Sets&quot; &amp; <groups>"');
  expect(code).toMatch(/^<iframe .*aspect-ratio: 16 \/ 9.* allowfullscreen><\/iframe>$/);
  expect(code).toContain(' allow="fullscreen; picture-in-picture; clipboard-write"');
});

test('the bit rate of the line counts downloads at the same time together', () => {
  const meter = new LineMeter();
  expect(meter.bitsPerSecond).toBeUndefined();
  meter.add({ bytes: 62_500, start: 0, end: 1000 });
  meter.add({ bytes: 62_500, start: 0, end: 1000 });
  expect(meter.bitsPerSecond).toBe(1_000_000);
  meter.add({ bytes: 0, start: 0, end: 9000 });
  expect(meter.bitsPerSecond).toBe(1_000_000);
  for (let i = 1; i <= 4; i += 1) meter.add({ bytes: 250_000, start: i * 5000, end: i * 5000 + 100 });
  expect(meter.bitsPerSecond).toBe(20_000_000);
});

test.each([
  ['a slow line leaves the follower its lowest', 1_000_000, 400_000, { leader: 700_000, followers: [600_000] }],
  ['the leader goes first', 3_000_000, 2_500_000, { leader: 2_700_000, followers: [500_000] }],
  ['no follower gets less than its lowest', 2_000_000, 2_500_000, { leader: 1_700_000, followers: [300_000] }],
  ['the leader gets an equal part at least', 200_000, 400_000, { leader: 100_000, followers: [300_000] }],
])('the line is divided: %s', (_, line, leaderUses, shares) => {
  expect(shareLine({ line, leaderUses, followersNeed: [300_000] })).toEqual(shares);
});

test.each([
  [[360, 720, 1080], 800, 1],
  [[1080, 720, 360], 720, 1],
  [[720, 1080], 480, 0],
  [[], 480, -1],
])('of %j the best within %d is number %d', (qualities, limit, index) => {
  expect(bestWithin(qualities, limit)).toBe(index);
});

test.each([
  [{ width: 1280, height: 720 }, '720p'],
  [{ width: 360, height: 640 }, '360p'],
  [{ tags: ['engage-download', '128k-quality'] }, '128 kbit/s'],
  [{ tags: [] }, undefined],
])('the quality of %j is %s', (facts, label) => {
  expect(qualityOf(publishedElement({ width: null, height: null, ...facts }))?.label).toBe(label);
});
