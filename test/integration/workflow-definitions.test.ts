import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestApp, type TestApp } from '../support/app.ts';
import { readPage } from '../support/lists.ts';

const OWN = `
id: review
aliases: [look-at-it]
title: A review
tags: [upload, own]
display_order: 1000
configuration_panel: <label>Really <input type="checkbox" id="really"></label>
configuration_panel_json:
  - fieldset: [{name: really, type: checkbox}]
configuration:
  really: false
operations:
  - operation: inspect
    if: really
    retries: 0
on_failure:
  - operation: noop
    description: Telling somebody
`;

let app: TestApp;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'inlet-definitions-'));
  await writeFile(join(folder, 'review.yaml'), OWN);
  app = await createTestApp(undefined, { WORKFLOWS_DIR: folder });
});
afterAll(async () => {
  await app?.close();
  await rm(folder, { recursive: true });
});

async function ask(query = '') {
  const answer = await app.request(`/api/workflow-definitions${query}`);
  const text = await answer.text();
  return { status: answer.status, text, json: answer.ok ? JSON.parse(text) : undefined };
}
const identifiers = async (query: string) =>
  ((await ask(query)).json as { identifier: string }[]).map(({ identifier }) => identifier);

test('lists the definitions with what is always told of them, by their identifiers', async () => {
  const { json } = await ask();
  expect(json.map(({ identifier }: { identifier: string }) => identifier)).toEqual([
    ...['fast', 'publish', 'republish-metadata', 'retract', 'review', 'schedule-and-upload'],
  ]);
  expect(json[4]).toEqual({
    identifier: 'review',
    title: 'A review',
    description: '',
    tags: ['upload', 'own'],
  });
});

test('filters by tag, sorts by each criterion, and pages', async () => {
  expect(await identifiers('?filter=tag:own')).toEqual(['review']);
  expect(await identifiers('?filter=tag:nothing')).toEqual([]);
  expect((await identifiers('?sort=displayorder:DESC'))[0]).toBe('review');
  expect((await identifiers('?sort=title:ASC'))[0]).toBe('review');
  expect(await identifiers('?sort=identifier:DESC&limit=1&offset=1')).toEqual(['review']);
});

test('says how many there are, and where the other pages are', async () => {
  const page = await readPage(app, '/api/workflow-definitions?sort=identifier:ASC&limit=2&offset=2');
  const ids = await identifiers('');
  expect(page.ids).toEqual(ids.slice(2, 4));
  expect(page.total).toBe(`eq ${ids.length}`);
  const path = '/api/workflow-definitions?sort=identifier%3AASC&limit=2';
  expect(page.links).toEqual({
    first: path,
    prev: path,
    next: `${path}&offset=4`,
    last: `${path}&offset=4`,
  });
  const beyond = await readPage(app, '/api/workflow-definitions?filter=tag:own&offset=9');
  expect(beyond).toMatchObject({ ids: [], total: 'eq 1' });
});

test('an unknown criterion of either kind is 400', async () => {
  expect(await ask('?sort=colour:ASC')).toMatchObject({
    status: 400,
    text: 'Unknown search criterion in request: colour',
  });
  expect(await ask('?filter=colour:red')).toMatchObject({ status: 400 });
});

test('one is read by its identifier or another name, with operations and panels when these are wanted', async () => {
  const wanted = '?withoperations=true&withconfigurationpanel=true&withconfigurationpaneljson=true';
  const { json } = await ask(`/look-at-it${wanted}`);
  expect(json).toMatchObject({
    identifier: 'review',
    configuration_panel: '<label>Really <input type="checkbox" id="really"></label>',
    configuration_panel_json: '[{"fieldset":[{"name":"really","type":"checkbox"}]}]',
  });
  const common = { unless: '', fail_workflow_on_error: true, error_handler_workflow: '', configuration: {} };
  expect(json.operations).toEqual([
    {
      operation: 'inspect',
      description: '',
      if: 'really',
      retry_strategy: 'none',
      max_attempts: 1,
      ...common,
    },
    {
      ...{
        operation: 'noop',
        description: 'Telling somebody',
        if: '',
        retry_strategy: 'retry',
        max_attempts: 9,
      },
      ...common,
    },
  ]);
  expect(await ask('/nothing')).toMatchObject({
    status: 404,
    text: "Cannot find workflow definition with id 'nothing'.",
  });
});

test('agents are told the order as well', async () => {
  const answer = await app.request('/workflow/definitions.json');
  const { definitions } = (await answer.json()) as { definitions: { definition: object[] } };
  expect(definitions.definition).toContainEqual(
    expect.objectContaining({ id: 'review', displayOrder: 1000 }),
  );
});
