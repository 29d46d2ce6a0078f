import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestApp, type TestApp } from '../support/app.ts';
import { type Names, pathOf, prepare, WITH_FORM } from '../support/bad-input/endpoints.ts';
import { hostileText } from '../support/bad-input/hostile.ts';
import { Judge } from '../support/bad-input/judge.ts';
import { field, file, form } from '../support/form.ts';

const RUNS = 15;

let app: TestApp;
let judge: Judge;
let names: Names;
beforeAll(async () => {
  app = await createTestApp();
  names = await prepare(app);
  judge = new Judge(app);
});
afterAll(() => app?.close());

const CONTENT_TYPES = [
  ...['', 'text/plain', 'application/json', 'application/xml', 'application/octet-stream', 'nonsense', ';'],
  ...[
    'multipart/form-data',
    'multipart/form-data; boundary=',
    'multipart/form-data; boundary="',
    'multipart/mixed; boundary=b',
  ],
  ...[
    'multipart/form-data; boundary=b',
    `multipart/form-data; boundary=${'b'.repeat(300)}`,
    'multipart/form-data;;;boundary=b',
  ],
  ...[
    'application/x-www-form-urlencoded; charset=utf-16',
    'application/x-www-form-urlencoded',
    'MULTIPART/FORM-DATA; BOUNDARY=b',
  ],
];

const head = (disposition: string, more = '') => `--b\r\nContent-Disposition: ${disposition}\r\n${more}\r\n`;
const repeated = (part: string, times: number) => `${part.repeat(times)}--b--\r\n`;
/** Multipart bodies that no client should send. The boundary is b. */
const BROKEN = [
  ...['', '--b--', '--b--\r\n', '--b\r\n', '--b', '\r\n--b\r\n\r\n\r\n--b--\r\n', 'preamble only'],
  `${head('form-data; name="acl"')}[]`,
  `${head('form-data')}[]\r\n--b--\r\n`,
  `${head('form-data; name=')}[]\r\n--b--\r\n`,
  `${head('attachment; filename="x"')}[]\r\n--b--\r\n`,
  `${head('form-data; name="acl"; filename="')}[]\r\n--b--\r\n`,
  `${head('form-data; name="presenter"; filename="a.mp4"')}bytes`,
  `${head('form-data; name="acl"', `X-Long: ${'x'.repeat(100_000)}\r\n`)}[]\r\n--b--\r\n`,
  `${head('form-data; name="acl"', 'X-Many: x\r\n'.repeat(5000))}[]\r\n--b--\r\n`,
  `${head('form-data; name="acl"', 'Content-Transfer-Encoding: base64\r\n')}W10=\r\n--b--\r\n`,
  `${head('form-data; name="acl"', 'Content-Type: text/plain; charset=utf-7\r\n')}+AFsAXQ-\r\n--b--\r\n`,
  `${head('form-data; name="acl"', 'Content-Type: multipart/mixed; boundary=c\r\n')}--c\r\n\r\n[]\r\n--c--\r\n--b--\r\n`,
  `${head(`form-data; name="${'n'.repeat(5000)}"`)}[]\r\n--b--\r\n`,
  repeated(`${head('form-data; name="acl"')}[]\r\n`, 1000),
  repeated(`${head('form-data; name="f"; filename="x"')}x\r\n`, 100),
  `${head('form-data; name="acl"')}\xff\xfe\x00\r\n--b--\r\n`,
  `${head('form-data; name="a\0b"; filename="c\0d"')}[]\r\n--b--\r\n`,
];

const bytesOf = (text: string) => Buffer.from(text, 'latin1');

describe.each(WITH_FORM)('%s', (_name, endpoint, { example }) => {
  const method = endpoint.method.toUpperCase();
  const good = () =>
    form([
      ...Object.entries(example).map(([name, value]) => field(name, value)),
      file('presenter', 'a', bytesOf('x')),
    ]);

  test.each(CONTENT_TYPES)('answers a body of the type %j', async (type) => {
    for (const body of ['', 'acl=%5B%5D', '[]', '\0%', '--b--\r\n']) {
      await judge.try({ method, path: pathOf(endpoint, names), headers: { 'Content-Type': type }, body });
    }
    await judge.stillAnswers();
  });

  test('answers broken multipart forms', async () => {
    const headers = { 'Content-Type': 'multipart/form-data; boundary=b' };
    for (const text of BROKEN) {
      await judge.try({ method, path: pathOf(endpoint, names), headers, body: bytesOf(text) });
    }
    await judge.stillAnswers();
  });

  test('refuses a multipart form that is cut short, and changes nothing', async () => {
    const { type, body } = good();
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: body.length - 6 }), async (length) => {
        const headers = { 'Content-Type': type };
        const status = await judge.try({
          method,
          path: pathOf(endpoint, names),
          headers,
          body: body.subarray(0, length),
        });
        expect(status).toBeGreaterThanOrEqual(400);
      }),
      { numRuns: RUNS },
    );
    await judge.stillAnswers();
  });

  test('answers a form with bytes changed', async () => {
    const { type, body } = good();
    const change = fc.tuple(fc.nat(body.length - 1), fc.integer({ min: 0, max: 255 }));
    await fc.assert(
      fc.asyncProperty(
        fc.array(change, { minLength: 1, maxLength: 5 }),
        hostileText,
        async (changes, tail) => {
          const changed = Buffer.concat([body, Buffer.from(tail)]);
          for (const [at, byte] of changes) changed[at] = byte;
          await judge.try({
            method,
            path: pathOf(endpoint, names),
            headers: { 'Content-Type': type },
            body: changed,
          });
        },
      ),
      { numRuns: RUNS },
    );
    await judge.stillAnswers();
  });
});
