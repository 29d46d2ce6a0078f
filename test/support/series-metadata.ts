import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { createTestApp, type TestApp } from './app.ts';
import { type Answer, ace, createSeries, send } from './series.ts';

/** A field of a metadata catalog as it is answered. */
export interface FieldJson {
  id: string;
  value: unknown;
  readOnly: boolean;
  type: string;
  required: boolean;
  label: string;
}

/** A metadata catalog as it is answered. */
export interface CatalogJson {
  flavor: string;
  title: string;
  label: string;
  fields: FieldJson[];
}

const LICENSE_CATALOG = `
resource: series
flavor: license/series
title: LICENSES
fields:
  - { id: license, label: LICENSE, type: text, required: true }
  - { id: remarks, label: REMARKS, type: text_long }
`;

export const COMMON = '?type=dublincore/series';
export const LICENSE = '?type=license/series';

/** The application with a further catalog for series, `license/series`. */
export async function createMetadataApp(): Promise<TestApp> {
  const folder = await mkdtemp(join(tmpdir(), 'inlet-metadata-'));
  await writeFile(join(folder, 'license.yaml'), LICENSE_CATALOG);
  const app = await createTestApp(undefined, { METADATA_DIR: folder });
  return {
    ...app,
    close: async () => {
      await app.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A series with a title, a subject and two organizers; ROLE_READER may read it. @returns its identifier */
export function createMathematics(app: TestApp): Promise<string> {
  const values = { title: 'Mathematics', subjects: ['Maths'], creator: ['A', 'B'] };
  return createSeries(app, values, [ace('ROLE_READER')]);
}

/** What `createMathematics` made has these values in `dublincore/series`. */
export const mathematics = (id: string) => ({
  title: 'Mathematics',
  subjects: ['Maths'],
  description: '',
  language: '',
  rightsHolder: '',
  license: '',
  creator: ['A', 'B'],
  contributor: [],
  publisher: [],
  createdBy: 'admin',
  identifier: id,
});

/** Sets fields of one catalog. */
export function putFields(
  app: TestApp,
  id: string,
  query: string,
  fields: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const metadata = JSON.stringify(fields);
  return send(app, 'PUT', `/api/series/${id}/metadata${query}`, { metadata }, headers);
}

/** The values of one catalog by field. */
export async function readValues(app: TestApp, id: string, query: string): Promise<Record<string, unknown>> {
  const answer = await send(app, 'GET', `/api/series/${id}/metadata${query}`);
  expect(answer.status, answer.text).toBe(200);
  return valuesOf(JSON.parse(answer.text) as FieldJson[]);
}

export function valuesOf(fields: FieldJson[] = []): Record<string, unknown> {
  return Object.fromEntries(fields.map((field) => [field.id, field.value]));
}
