import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { HttpError } from '#platform/http/errors/errors.ts';
import type { CatalogValues } from './catalog.ts';
import { catalogJson } from './catalog-json.ts';
import { type CatalogSet, loadCatalogs } from './catalogs.ts';
import { dublinCore } from './dublincore.ts';
import { CatalogJson } from './metadata.schemas.ts';
import {
  parseCatalogs,
  parseFieldEntries,
  parseKnownCatalogs,
  readFieldEntries,
  requireValues,
} from './parse-metadata.ts';

const catalogs = await loadCatalogs(fileURLToPath(new URL('../../docs/metadata/', import.meta.url)));
const sets = [catalogs.event, catalogs.series];

const awkward = fc.constantFrom(
  ...['__proto__', 'constructor', '\0', '\ud800', '[', '["a"]', '[[]]', '9999-99-99', '2024-05-02'],
  ...['2024-05-02T25:61:61Z', '13:30', '00:00:61', '99999:00:00', 'true', '-0', '1e999', ' '],
);
const text = fc.oneof(awkward, fc.string({ unit: 'binary' }), fc.string());
const value = fc.oneof(
  { depthSize: 'small' },
  text,
  fc.array(fc.oneof(text, fc.jsonValue())),
  fc.jsonValue(),
  fc.constant(null),
);
const ids = sets.flatMap(({ all }) => all.flatMap(({ fields }) => fields.map(({ id }) => id)));
const field = fc.oneof(
  { weight: 8, arbitrary: fc.record({ id: fc.constantFrom(...ids, 'subject'), value }) },
  { weight: 2, arbitrary: fc.record({ id: text, value, required: fc.boolean() }, { requiredKeys: [] }) },
  { weight: 1, arbitrary: fc.jsonValue() },
);
const flavor = fc.constantFrom(...sets.flatMap(({ all }) => all.map((catalog) => catalog.flavor)));
const fields = fc.array(field, { maxLength: 4 });
const strange = fc.record({ flavor: text, fields: fc.jsonValue() }, { requiredKeys: [] });
const catalog = fc.oneof(
  { weight: 8, arbitrary: fc.record({ flavor, fields }) },
  { weight: 1, arbitrary: strange },
  { weight: 1, arbitrary: fc.jsonValue() },
);
const body = fc.oneof(
  { weight: 8, arbitrary: fc.array(catalog, { maxLength: 3 }).map((json) => JSON.stringify(json)) },
  { weight: 1, arbitrary: fc.jsonValue().map((json) => JSON.stringify(json)) },
  { weight: 1, arbitrary: text },
);
const resource = fc.constantFrom('event', 'series');

/** What was read, or undefined after a refusal that is one. */
function attempt<T>(statuses: readonly number[], work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof HttpError) || !statuses.includes(error.status)) throw error;
    expect(error.message).not.toBe('');
    expect(error.message.isWellFormed()).toBe(true);
    return undefined;
  }
}

/** Values that were accepted can be stored, shown and published. */
function expectUsable(values: ReadonlyMap<string, CatalogValues>, { find }: CatalogSet): void {
  for (const [flavor, own] of values) {
    const known = find(flavor);
    if (!known) throw new Error(`${flavor} is not configured`);
    for (const stored of [...own.values()].flat()) {
      expect(stored.isWellFormed() && !stored.includes('\0')).toBe(true);
    }
    for (const form of ['metadata', 'withmetadata'] as const) {
      CatalogJson.parse(catalogJson(known, own, { form }));
    }
    dublinCore(known, own);
  }
}

test('metadata of new resources and updates is either usable or refused with a sentence', () => {
  fc.assert(
    fc.property(resource, fc.constantFrom('create', 'update'), body, (name, purpose, sent) => {
      attempt([400], () => {
        const values = parseCatalogs(sent, catalogs[name], purpose);
        expectUsable(values, catalogs[name]);
        requireValues(values, catalogs[name]);
      });
    }),
  );
});

test('a full update of a series is either usable or refused with a sentence', () => {
  fc.assert(
    fc.property(body, (sent) => {
      attempt([400], () => expectUsable(parseKnownCatalogs(sent, catalogs.series), catalogs.series));
    }),
  );
});

test('an update of one catalog is either usable or refused with a sentence', () => {
  const sentFields = fc.oneof(
    { weight: 8, arbitrary: fields.map((json) => JSON.stringify(json)) },
    { weight: 1, arbitrary: text },
  );
  fc.assert(
    fc.property(resource, sentFields, (name, sent) => {
      const { common } = catalogs[name];
      const entries = attempt([400], () => parseFieldEntries(sent, name));
      const target = { resource: name, id: 'x', flavor: common.flavor };
      const values = entries && attempt([400, 404], () => readFieldEntries(entries, common, target));
      if (values) expectUsable(new Map([[common.flavor, values]]), catalogs[name]);
    }),
  );
});
