import { expect, test } from 'vitest';
import { parseConfiguration } from './configuration.ts';

const json = (properties: object) => parseConfiguration(JSON.stringify(properties));
const xml = (key: string, value: string) =>
  parseConfiguration(`<properties><entry key="${key}">${value}</entry></properties>`);

test('text, numbers and booleans are kept as text, by key', () => {
  const { properties } = json({ b: 'x', c: 1.5, a: true, ä: '', __proto__x: '' });
  expect([...properties]).toEqual([
    ['__proto__x', ''],
    ['a', 'true'],
    ['b', 'x'],
    ['c', '1.5'],
    ['ä', ''],
  ]);
});

test('a key that every object knows is one like any other', () => {
  const { properties } = parseConfiguration('{"__proto__":"a","constructor":"b"}');
  expect([...properties]).toEqual([
    ['__proto__', 'a'],
    ['constructor', 'b'],
  ]);
});

test('of a key given twice the last value counts', () => {
  const text = '<properties><entry key="a">1</entry><entry key="a">2</entry></properties>';
  expect(parseConfiguration(text).properties.get('a')).toBe('2');
});

test('the inputs are the names between the commas', () => {
  expect(json({ 'capture.device.names': ' camera, screen ,,camera,Mikro fön' }).inputs).toEqual([
    'camera',
    'screen',
    'Mikro fön',
  ]);
  expect(json({ 'capture.device.names': ' ' }).inputs).toEqual([]);
  expect(json({}).inputs).toEqual([]);
});

test('the time zone is an IANA name, in any case of letters, and UTC without one', () => {
  expect(json({ 'capture.device.timezone': ' America/New_York ' }).timeZone).toBe('America/New_York');
  expect(json({ 'capture.device.timezone': 'europe/berlin' }).timeZone).toBe('europe/berlin');
  expect(json({ 'capture.device.timezone.offset': '60' }).timeZone).toBe('UTC');
});

test.each(['', 'Utopia', '+02:00', 'Europe/Berlin; DROP', 'EST5EDT,M3.2.0,M11.1.0', 'x'.repeat(300)])(
  'the time zone %.30j, which there is not, costs nothing else of the configuration',
  (zone) => {
    expect(json({ 'capture.device.timezone': zone, 'capture.device.names': 'camera' })).toMatchObject({
      timeZone: 'UTC',
      unknownZone: zone,
      inputs: ['camera'],
    });
  },
);

test.each(['', ' ', '[]', 'null', '"a"', 'a=1', '{', '{"a":1,}', `${'{"a":'.repeat(5000)}1`])(
  '%.30j is neither a JSON object nor properties XML',
  (text) => {
    expect(() => parseConfiguration(text)).toThrow(
      'The configuration must be a JSON object or properties XML.',
    );
  },
);

test.each([null, [], {}, ['a'], { a: 'b' }])('a value %j is refused by the name of its property', (value) => {
  expect(() => json({ fine: 'x', 'not.fine': value })).toThrow(
    'The property "not.fine" of the configuration is neither text nor number nor boolean.',
  );
});

test.each(['\0', 'a\u001fb', '\ud800', '\uffff'])(
  'the value %j is refused by the name of its property',
  (value) => {
    expect(() => json({ 'not.fine': value })).toThrow(
      'The property "not.fine" of the configuration holds a character that XML does not allow.',
    );
  },
);

test.each(['&#0;', '&#xD800;', '&#xFFFF;', '\u0001'])('the XML value %j is refused', (value) => {
  expect(() => xml('a', value)).toThrow(
    /holds (a character that XML does not allow|"&#xD800;"; allowed are)/,
  );
});

test.each(['', 'a\0', 'a\nb', '\ud800', 'k'.repeat(256)])('the key %.10j is refused', (key) => {
  expect(() => json({ [key]: 'x' })).toThrow(
    /^A property of the configuration is called ".*"; allowed are 1 to 255/,
  );
});

test('as much as is allowed is taken, and no more', () => {
  const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 'v']));
  expect(json(many(1000)).properties.size).toBe(1000);
  expect(() => json(many(1001))).toThrow('The configuration has 1001 properties; allowed are 1000.');
  expect(json({ a: 'x'.repeat(10_000) }).properties.get('a')).toHaveLength(10_000);
  expect(() => json({ a: 'x'.repeat(10_001) })).toThrow('"a" of the configuration is longer than 10000');
  expect(() => parseConfiguration(`{${' '.repeat(65_536)}}`)).toThrow(
    expect.objectContaining({ status: 413, message: 'The configuration is longer than 65536 bytes.' }),
  );
});
