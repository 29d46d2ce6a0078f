import { describe, expect, test } from 'vitest';
import { EVENT_FIELDS, TRACK_FIELDS } from '#catalogue/events/event-versions.ts';
import { SERIES_FIELDS, SERIES_LIST_FIELDS } from '#catalogue/series/series.schemas.ts';
import { MEDIA_FIELDS } from '#publications/publication.schemas.ts';
import { DOCUMENT, faultOfBody, type Operation, responseOf } from '#test/support/openapi.ts';

const operations = Object.entries(DOCUMENT.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
);
const contentOf = (operation: Operation, status: string) => responseOf(operation, Number(status))?.content ?? {};

describe.each(operations)('$method $path', ({ path, operation }) => {
  test('is described, with what it answers and what it refuses', () => {
    expect(operation).toMatchObject({
      summary: expect.any(String),
      description: expect.stringMatching(/^(?!undefined)./),
    });
    const statuses = Object.keys(operation.responses).map(Number);
    expect(statuses.some((status) => status < 300)).toBe(true);
    expect(statuses.some((status) => status >= 400)).toBe(true);
    for (const status of statuses) expect(responseOf(operation, status)).toHaveProperty('description');
  });

  test('has a fitting example of every answer with a body, and of its form', () => {
    for (const status of Object.keys(operation.responses)) {
      const content = Object.entries(contentOf(operation, status));
      if (Number(status) >= 300) continue;
      // Versioned answers have an example for the newest version.
      const hasExample = content.some(([, { example }]) => example !== undefined);
      for (const [type, { schema, example }] of content.filter(([each]) => each !== '*/*')) {
        expect(schema && hasExample, `${status} ${type}`).toBe(true);
        if (example !== undefined && schema) expect(faultOfBody(schema, example), status).toBeUndefined();
      }
    }
    for (const { schema, example } of Object.values(operation.requestBody?.content ?? {})) {
      expect(faultOfBody(schema, example)).toBeUndefined();
    }
  });

  test('describes each of its parameters', () => {
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    const parameters = operation.parameters ?? [];
    expect(parameters.filter((each) => each.in === 'path').map(({ name }) => name)).toEqual(inPath);
    for (const parameter of parameters) expect(parameter).toHaveProperty('description');
  });
});

test('every operation has a name of its own', () => {
  const names = operations.map(({ operation }) => operation.operationId);
  expect(new Set(names).size).toBe(names.length);
});

test('whatever came with a later version is marked, in parts that the document has', () => {
  const { schemas } = DOCUMENT.components;
  const tables = {
    ...{ Event: EVENT_FIELDS, Track: TRACK_FIELDS, PublishedMedia: MEDIA_FIELDS, Series: SERIES_FIELDS },
    SeriesListElement: SERIES_LIST_FIELDS,
  };
  for (const [name, since] of Object.entries(tables)) {
    const { properties } = schemas[name] as { properties: Record<string, { 'x-since'?: string }> };
    for (const [field, version] of Object.entries(since)) {
      expect(properties[field], `${name}.${field}`).toHaveProperty('x-since', version);
    }
  }
  expect(JSON.stringify(schemas)).not.toContain('x-introduced');
});

test('every reference leads somewhere', () => {
  const references = [...JSON.stringify(DOCUMENT).matchAll(/"\$ref":"#\/([^"]+)"/g)];
  const child = (node: unknown, key: string) => (node as Record<string, unknown> | undefined)?.[key];
  const found = (path: string) => path.split('/').reduce<unknown>(child, DOCUMENT);
  expect(references.length).toBeGreaterThan(0);
  expect(references.filter(([, path = '']) => found(path) === undefined)).toEqual([]);
});
