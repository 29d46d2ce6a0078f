import fc from 'fast-check';

/** Texts that have broken servers before. None holds a word that a sentence about SQL or a stack would have. */
const AWKWARD = [
  ...['', ' ', '\0', 'a\0b', '\ud800', 'x\udc00y', '\u202e', '\ufeff', 'é'.normalize('NFD'), '😀'],
  ...["'", '"', '`', '\\', '%', '_', '%%', '\\%', '%_%', '$1', '$$'],
  ...["'; DROP TABLE events; --", "' OR '1'='1"],
  ...['../../../../etc/passwd', '..\\..\\', '/', '//', 'file:///etc/passwd', 'a/b/c', 'dublincore/episode'],
  ...['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'null', 'undefined', 'NaN'],
  ...['0', '-0', '-1', '1.5', '1e3', '1e999', '9007199254740993', '99999999999999999999', '0x10', '١٢'],
  ...['2026-02-30', '9999-99-99', '0000-00-00', '-271821-04-20T00:00:00Z', '+275760-09-13T00:00:01Z'],
  ...['2026-01-31T25:61:61Z', '13:30', '24:00', '99999:00:00', '00:00:61', '2026-01-31T00:00:00+99:99'],
  ...['true', 'TRUE', '1', 'yes', '[]', '{}', '[', '{"a":', '["a"', '[[]]', ':::,,,:'],
  ...['title:ASC', 'title:x'],
  ...['<script>alert(1)</script>', '#{7*7}', '{{7*7}}', '\r\nX-Injected: yes', '\n', '\t', '\u0085\u2028'],
];
const LONG = [256, 2001, 9000, 100_001].map((length) => 'x'.repeat(length));

/** Any text, the worse the better. */
export const hostileText = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...AWKWARD) },
  { weight: 3, arbitrary: fc.string({ unit: 'binary', maxLength: 60 }) },
  { weight: 1, arbitrary: fc.constantFrom(...LONG) },
  { weight: 1, arbitrary: fc.constantFrom(...LONG).map((text) => 'ä'.repeat(text.length / 2)) },
);

const nested = (levels: number, open: string, close: string) => open.repeat(levels) + close.repeat(levels);
const many = (item: unknown) => JSON.stringify(Array.from({ length: 10_000 }, () => item));

/** Any JSON value, also ones of the wrong kind and of absurd size. */
export const hostileValue = fc.oneof(
  { weight: 4, arbitrary: hostileText },
  { weight: 3, arbitrary: fc.jsonValue({ maxDepth: 2, stringUnit: 'binary' }) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(null, true, false, 0, -1, 1.5, 1e300, -1e-300, 2 ** 53, [], {}, [[]]),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom('x', ['x'], 7).map((item) => Array.from({ length: 10_000 }, () => item)),
  },
);

/** A text where JSON is expected: a good one with one thing in it replaced, or nothing of the kind. */
export function hostileJson(example: string): fc.Arbitrary<string> {
  const absurd = [
    nested(5000, '[', ']'),
    nested(5000, '{"a":', '}').replace(':}', ':1}'),
    many({ flavor: 'dublincore/episode', fields: [] }),
    many({ id: 'title', value: 'x' }),
    many({ allow: true, action: 'read', role: 'ROLE_X' }),
  ];
  return fc.oneof(
    { weight: 6, arbitrary: mutated(example) },
    { weight: 2, arbitrary: hostileText },
    { weight: 2, arbitrary: hostileValue.map((value) => JSON.stringify(value)) },
    { weight: 1, arbitrary: fc.nat(example.length).map((length) => example.slice(0, length)) },
    { weight: 1, arbitrary: fc.constantFrom(...absurd) },
  );
}

function mutated(example: string): fc.Arbitrary<string> {
  let json: unknown;
  try {
    json = JSON.parse(example);
  } catch {
    return hostileText;
  }
  const count = placesIn(json);
  return fc
    .tuple(fc.nat(count - 1), hostileValue, fc.constantFrom('replace', 'drop', 'rename'))
    .map(([place, value, how]) => JSON.stringify(change(json, { place }, how, value)) ?? '');
}

function placesIn(json: unknown): number {
  if (typeof json !== 'object' || json === null) return 1;
  return Object.values(json).reduce<number>((sum, each) => sum + placesIn(each), 1);
}

/** The value with the wanted place, counted from the top, changed. */
function change(json: unknown, left: { place: number }, how: string, value: unknown): unknown {
  if (left.place-- === 0) return how === 'drop' ? undefined : value;
  if (Array.isArray(json)) return json.map((each) => change(each, left, how, value));
  if (typeof json !== 'object' || json === null) return json;
  return Object.fromEntries(
    Object.entries(json).map(([name, each]) => {
      const hit = left.place === 0 && how === 'rename';
      const changed = change(each, left, how, value);
      return hit ? [JSON.stringify(value).slice(0, 100), each] : [name, changed];
    }),
  );
}

const RAW = [
  ...['%00', '%2F', '%2f..%2f', '%5C', '%C0%AF', '%ED%A0%80', '%FF', '%', '%zz', '%E2%80%AE', '..', '.'],
  '%2e%2e',
];

/** One segment of a path or one word of a query, ready to stand in an address, well encoded or not. */
export const hostileSegment = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...RAW) },
  { weight: 1, arbitrary: fc.constantFrom(...RAW).map((raw) => `a${raw}b`) },
  { weight: 5, arbitrary: hostileText.map((text) => encodeURIComponent(text.slice(0, 2500).toWellFormed())) },
);

/** What may stand in a header: no line breaks, bytes as characters. */
export const hostileHeader = fc.oneof(
  fc.constantFrom('', '*', ',', ';q=', '"', 'x'.repeat(60_000)),
  fc.constantFrom('application/v99.0.0+json', 'text/html', '*/*;q=0'),
  fc.constantFrom('application/v1.0.0+json', 'application/v1.0.0+xml', 'bytes=0-', 'bytes=9-1', 'W/"', '-1'),
  fc.string({
    unit: fc
      .integer({ min: 0x20, max: 0xff })
      .filter((c) => c !== 0x7f)
      .map((c) => String.fromCharCode(c)),
  }),
);
