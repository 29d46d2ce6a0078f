import fc from 'fast-check';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { createTestApp, type TestApp } from '../support/app.ts';
import { type Names, pathOf, prepare, WITH_FORM } from '../support/bad-input/endpoints.ts';
import { hostileJson, hostileText } from '../support/bad-input/hostile.ts';
import { Judge } from '../support/bad-input/judge.ts';
import { field, form, type Part } from '../support/form.ts';

const RUNS = 30;
const FIELDS = ['acl', 'metadata', 'processing', 'scheduling', 'properties', 'theme', 'override', 'url'];

let app: TestApp;
let judge: Judge;
let names: Names;
beforeAll(async () => {
  app = await createTestApp(undefined, { URL_SIGNING_SECRET: 'secret' });
  names = await prepare(app);
  judge = new Judge(app);
});
afterAll(() => app?.close());

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
      .chain(([name, value]) => fc.tuple(fc.constant(name), hostileJson(value)));
    await fc.assert(
      fc.asyncProperty(one, fc.boolean(), async ([name, value], urlencoded) => {
        await send(
          given.map(([each, usual]) => field(each, each === name ? value : usual)),
          urlencoded,
        );
      }),
      { numRuns: RUNS },
    );
    await judge.stillAnswers();
  });

  test('refuses or ignores fields that are missing, repeated or unknown', async () => {
    const extra = fc.record({
      name: fc.constantFrom(...FIELDS, ...given.map(([name]) => name)),
      value: hostileText,
    });
    await fc.assert(
      fc.asyncProperty(
        fc.subarray(given),
        fc.array(extra, { maxLength: 3 }),
        fc.boolean(),
        async (some, more, first) => {
          const usual = some.map(([name, value]) => field(name, value));
          const extras = more.map(({ name, value }) => field(name, value));
          await send(first ? [...extras, ...usual] : [...usual, ...extras], first);
        },
      ),
      { numRuns: RUNS / 2 },
    );
    await judge.stillAnswers();
  });
});
