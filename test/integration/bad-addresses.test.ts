import fc from 'fast-check';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { createTestApp, type TestApp } from '../support/app.ts';
import { ALL, type Names, pathOf, prepare } from '../support/bad-input/endpoints.ts';
import { hostileHeader, hostileSegment } from '../support/bad-input/hostile.ts';
import { Judge } from '../support/bad-input/judge.ts';

const RUNS = 20;
const HEADERS = [
  ...['Accept', 'Content-Type', 'If-None-Match', 'Range', 'If-Range', 'Idempotency-Key', 'X-Request-Id'],
  ...[
    'X-RUN-AS-USER',
    'X-RUN-WITH-ROLES',
    'X-Opencast-Matterhorn-Organization',
    'X-Requested-Auth',
    'Authorization',
  ],
];
const PARAMETERS = [
  ...['filter', 'sort', 'limit', 'offset', 'cursor', 'sign', 'withacl', 'withmetadata', 'withpublications'],
  ...[
    'withscheduling',
    'onlyWithWriteAccess',
    'includeInternalPublication',
    'type',
    'jsonp',
    '__proto__',
    'x',
  ],
];
const FILTER_NAMES = [
  ...['start', 'technical_start', 'created', 'CreationDate', 'textFilter', 'title', 'identifier', 'status'],
  ...['is_part_of', 'contributors', 'description', 'subject', 'nonsense'],
];

let app: TestApp;
let judge: Judge;
let names: Names;
beforeAll(async () => {
  app = await createTestApp();
  names = await prepare(app);
  judge = new Judge(app);
});
afterAll(() => app?.close());

/** `name=value`, also of names that nobody knows, and filters and sorts of a better shape. */
const parameter = fc.oneof(
  fc.tuple(fc.constantFrom(...PARAMETERS), hostileSegment).map(([name, value]) => `${name}=${value}`),
  fc
    .tuple(fc.constantFrom(...FILTER_NAMES), hostileSegment)
    .map(([name, value]) => `filter=${name}${encodeURIComponent(':')}${value}`),
  fc
    .tuple(fc.constantFrom('title', 'date', 'x'), hostileSegment)
    .map(([name, value]) => `sort=${name}:${value}`),
  hostileSegment,
);
const query = fc.array(parameter, { maxLength: 4 }).map((parameters) => `?${parameters.join('&')}`);

describe.each(ALL)('%s', (_name, endpoint) => {
  const method = endpoint.method.toUpperCase();
  // What deletes shall find nothing to delete.
  const destroys = method === 'DELETE';

  test.runIf(endpoint.path.includes('{'))('refuses names that are none', async () => {
    await fc.assert(
      fc.asyncProperty(hostileSegment, hostileSegment, query, async (one, other, search) => {
        const path = endpoint.path.replace(/\{\w+\}/, one).replaceAll(/\{\w+\}/g, other);
        await judge.try({ method, path: path + search });
      }),
      { numRuns: RUNS },
    );
    await judge.stillAnswers();
  });

  test.runIf(!destroys)('takes any parameters and headers, or refuses them', async () => {
    await fc.assert(
      fc.asyncProperty(query, fc.constantFrom(...HEADERS), hostileHeader, async (search, name, value) => {
        await judge.try({ method, path: pathOf(endpoint, names) + search, headers: { [name]: value } });
      }),
      { numRuns: RUNS },
    );
    await judge.stillAnswers();
  });
});
