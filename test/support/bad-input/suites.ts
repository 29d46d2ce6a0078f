import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ownApp } from '../app.ts';
import { field, file, form, type Part } from '../form.ts';
import { ALL, type Names, pathOf, prepare, WITH_FORM, WITH_JSON } from './endpoints.ts';
import { hostileHeader, hostileJson, hostileSegment, hostileText } from './hostile.ts';
import { Judge } from './judge.ts';

/** What the suites of a file ask: an application of its own, of which the judge sees every row. */
interface Bench {
  judge: Judge;
  names: Names;
}

/** What a tier sends. */
interface BadInput {
  /** Requests for each endpoint and test. */
  runs: number;
  bodies: BadBodies;
}

/** Tests that any input is taken or refused, and the application still does its work after all of that. */
export async function describeBadInput({ runs, bodies }: BadInput): Promise<void> {
  const app = await ownApp(undefined, { URL_SIGNING_SECRET: 'secret' });
  const bench = { judge: new Judge(app), names: await prepare(app) };
  describe('addresses', () => describeBadAddresses(bench, runs));
  describe('forms', () => describeBadForms(bench, runs));
  describe('JSON', () => describeBadJson(bench, runs));
  describe('bodies', () => describeBadBodies(bench, runs, bodies));
  test('the application still does its work after all of that', () => bench.judge.stillAnswers());
}

const HEADERS = [
  ...['Accept', 'Content-Type', 'If-None-Match', 'Range', 'If-Range', 'Idempotency-Key', 'X-Request-Id'],
  ...['X-RUN-AS-USER', 'X-RUN-WITH-ROLES', 'X-Opencast-Matterhorn-Organization', 'X-Requested-Auth'],
  'Authorization',
];
const PARAMETERS = [
  ...['filter', 'sort', 'limit', 'offset', 'cursor', 'sign', 'withacl', 'withmetadata', 'withpublications'],
  ...['withscheduling', 'onlyWithWriteAccess', 'includeInternalPublication', 'type', 'jsonp', '__proto__'],
  'x',
];
const FILTER_NAMES = [
  ...['start', 'technical_start', 'created', 'CreationDate', 'textFilter', 'title', 'identifier', 'status'],
  ...['is_part_of', 'contributors', 'description', 'subject', 'nonsense'],
];

const named = (names: string[]) => fc.tuple(fc.constantFrom(...names), hostileSegment);
/** `name=value`, also of names that nobody knows, and filters and sorts of a better shape. */
const parameter = fc.oneof(
  named(PARAMETERS).map(([name, value]) => `${name}=${value}`),
  named(FILTER_NAMES).map(([name, value]) => `filter=${name}${encodeURIComponent(':')}${value}`),
  named(['title', 'date', 'x']).map(([name, value]) => `sort=${name}:${value}`),
  hostileSegment,
);
const query = fc.array(parameter, { maxLength: 4 }).map((parameters) => `?${parameters.join('&')}`);

async function forAny<T>(input: fc.Arbitrary<T>, numRuns: number, run: (input: T) => Promise<unknown>) {
  await fc.assert(
    fc.asyncProperty(input, async (value) => void (await run(value))),
    { numRuns },
  );
}

function describeBadAddresses({ judge, names }: Bench, numRuns: number): void {
  describe.each(ALL)('%s', (_name, endpoint) => {
    const method = endpoint.method.toUpperCase();

    test.runIf(endpoint.path.includes('{'))('refuses names that are none', async () => {
      await forAny(fc.tuple(hostileSegment, hostileSegment, query), numRuns, ([one, other, search]) => {
        const path = endpoint.path.replace(/\{\w+\}/, one).replaceAll(/\{\w+\}/g, other);
        return judge.try({ method, path: path + search });
      });
    });

    // DELETE is left out: it has nothing to delete and keeps nothing for the other tests.
    test.runIf(method !== 'DELETE')('takes any parameters and headers, or refuses them', async () => {
      const input = fc.tuple(query, fc.constantFrom(...HEADERS), hostileHeader);
      await forAny(input, numRuns, ([search, name, value]) =>
        judge.try({ method, path: pathOf(endpoint, names) + search, headers: { [name]: value } }),
      );
    });
  });
}

const FIELDS = ['acl', 'metadata', 'processing', 'scheduling', 'properties', 'playlist', 'theme', 'override', 'url'];

function describeBadForms({ judge, names }: Bench, numRuns: number): void {
  describe.each(WITH_FORM)('%s', (_name, endpoint, { example, streams }) => {
    const method = endpoint.method.toUpperCase();
    const given = Object.entries(example);

    function send(parts: readonly Part[], urlencoded: boolean) {
      const subtype = endpoint.path.startsWith('/api/series') ? 'series' : 'episode';
      const path = `${pathOf(endpoint, names)}?type=dublincore/${subtype}`;
      if (urlencoded && !streams) {
        const body = new URLSearchParams(parts.map(({ name, content }) => [name, String(content)]));
        return judge.try({ method, path, body });
      }
      const { type, body } = form(parts);
      return judge.try({ method, path, headers: { 'Content-Type': type }, body });
    }

    test('refuses a field that is not as it should be, and changes nothing', async () => {
      const one = fc
        .constantFrom(...given)
        .chain(([name, value]) => fc.tuple(fc.constant(name), hostileJson(value), fc.boolean()));
      await forAny(one, numRuns, ([name, value, urlencoded]) => {
        const parts = given.map(([each, usual]) => field(each, each === name ? value : usual));
        return send(parts, urlencoded);
      });
    });

    test('refuses or ignores fields that are missing, repeated or unknown', async () => {
      const name = fc.constantFrom(...FIELDS, ...given.map(([each]) => each));
      const extra = fc.tuple(name, hostileText).map(([each, value]) => field(each, value));
      const extras = fc.array(extra, { maxLength: 3 });
      await forAny(fc.tuple(fc.subarray(given), extras, fc.boolean()), numRuns, ([some, more, first]) => {
        const usual = some.map(([each, value]) => field(each, value));
        return send(first ? [...more, ...usual] : [...usual, ...more], first);
      });
    });
  });
}

function describeBadJson({ judge, names }: Bench, numRuns: number): void {
  test.each(WITH_JSON)(
    '%s refuses a body that is not as it should be, and changes nothing',
    async (_name, endpoint, usual) => {
      const path = pathOf(endpoint, names);
      const headers = { 'Content-Type': 'application/json' };
      await forAny(hostileJson(usual), numRuns, (body) => judge.try({ method: 'POST', path, headers, body }));
    },
  );
}

const head = (disposition: string, more = '') => `--b\r\nContent-Disposition: ${disposition}\r\n${more}\r\n`;
const part = (disposition: string, more = '', content = '[]') => `${head(disposition, more)}${content}\r\n--b--\r\n`;
const repeated = (text: string, times: number) => `${text.repeat(times)}--b--\r\n`;
const ACL = 'form-data; name="acl"';

/** Media types that no form has, and multipart bodies that no client should send, with the boundary b. */
interface BadBodies {
  types: readonly string[];
  multipart: readonly string[];
}

/** One of each class. */
export const FEW_BODIES: BadBodies = {
  types: [
    ...['', 'nonsense', 'application/json', 'multipart/form-data', 'multipart/form-data; boundary="'],
    'application/x-www-form-urlencoded; charset=utf-16',
  ],
  multipart: [
    ...['', '--b--\r\n', '--b\r\n', `${head(ACL)}[]`, part('form-data; name="acl"; filename="')],
    `${head('form-data; name="presenter"; filename="a.mp4"')}bytes`,
    part(ACL, `X-Long: ${'x'.repeat(100_000)}\r\n`),
    part(ACL, 'Content-Transfer-Encoding: base64\r\n', 'W10='),
    part('form-data; name="a\0b"; filename="c\0d"', '', '\xff\xfe\x00'),
    repeated(`${head(ACL)}[]\r\n`, 1000),
  ],
};

export const ALL_BODIES: BadBodies = {
  types: [
    ...FEW_BODIES.types,
    ...['text/plain', 'application/xml', 'application/octet-stream', ';', 'multipart/mixed; boundary=b'],
    ...['; boundary=', '; boundary=b', ';;;boundary=b'].map((rest) => `multipart/form-data${rest}`),
    ...['application/x-www-form-urlencoded', 'MULTIPART/FORM-DATA; BOUNDARY=b'],
    `multipart/form-data; boundary=${'b'.repeat(300)}`,
  ],
  multipart: [
    ...FEW_BODIES.multipart,
    ...['--b--', '--b', '\r\n--b\r\n\r\n\r\n--b--\r\n', 'preamble only'],
    ...['form-data', 'form-data; name=', 'attachment; filename="x"'].map((text) => part(text)),
    part(`form-data; name="${'n'.repeat(5000)}"`),
    part(ACL, 'X-Many: x\r\n'.repeat(5000)),
    part(ACL, 'Content-Type: text/plain; charset=utf-7\r\n', '+AFsAXQ-'),
    part(ACL, 'Content-Type: multipart/mixed; boundary=c\r\n', '--c\r\n\r\n[]\r\n--c--'),
    repeated(`${head('form-data; name="f"; filename="x"')}x\r\n`, 100),
  ],
};

/** One endpoint for each way to read a form: all of them read it with the same code. */
const EACH_KIND_OF_FORM = [
  ...new Map(
    WITH_FORM.map((each) => {
      const { streams, fieldsAsFiles } = each[2];
      return [streams === 'any' ? 'any' : `${streams !== undefined} ${fieldsAsFiles}`, each];
    }),
  ).values(),
];

function describeBadBodies({ judge, names }: Bench, numRuns: number, { types, multipart }: BadBodies): void {
  describe.each(EACH_KIND_OF_FORM)('%s', (_name, endpoint, { example }) => {
    const latin1 = (text: string) => Buffer.from(text, 'latin1');
    const send = (type: string, body: Buffer<ArrayBuffer> | string) =>
      judge.try({
        method: endpoint.method.toUpperCase(),
        path: pathOf(endpoint, names),
        headers: { 'Content-Type': type },
        body,
      });
    const good = form([
      ...Object.entries(example).map(([name, value]) => field(name, value)),
      file('presenter', 'a', latin1('x')),
    ]);

    test('answers bodies of any type', async () => {
      for (const type of types) {
        for (const body of ['', 'acl=%5B%5D', '\0%', '--b--\r\n']) await send(type, body);
      }
    });

    test('answers broken multipart forms', async () => {
      for (const text of multipart) await send('multipart/form-data; boundary=b', latin1(text));
    });

    test('refuses a multipart form that is cut short, and changes nothing', async () => {
      const lengths = fc.integer({ min: 1, max: good.body.length - 6 });
      await forAny(lengths, numRuns, async (length) => {
        expect(await send(good.type, good.body.subarray(0, length))).toBeGreaterThanOrEqual(400);
      });
    });

    test('answers a form with bytes changed', async () => {
      const change = fc.tuple(fc.nat(good.body.length - 1), fc.integer({ min: 0, max: 255 }));
      const some = fc.array(change, { minLength: 1, maxLength: 5 });
      await forAny(fc.tuple(some, hostileText), numRuns, ([changes, tail]) => {
        const changed = Buffer.concat([good.body, Buffer.from(tail)]);
        for (const [at, byte] of changes) changed[at] = byte;
        return send(good.type, changed);
      });
    });
  });
}
