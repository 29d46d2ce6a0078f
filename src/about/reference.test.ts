import { expect, test } from 'vitest';
import { endpointApp } from '../../test/support/endpoint-app.ts';
import { servedDocument } from '../openapi/served.ts';
import { apiDocument } from './base.endpoints.ts';

const app = endpointApp([apiDocument], { document: servedDocument('https://media.example.org/inlet') });

test('the document says where the API is here', async () => {
  const answer = await app.request('/api/openapi.json');
  expect(answer.headers.get('Content-Type')).toBe('application/json');
  expect(await answer.json()).toMatchObject({
    openapi: '3.1.1',
    servers: [{ url: 'https://media.example.org/inlet' }],
  });
});

test('a client that has the document already gets no copy', async () => {
  const etag = (await app.request('/api/openapi.json')).headers.get('ETag') ?? '';
  const answer = await app.request('/api/openapi.json', { headers: { 'If-None-Match': etag } });
  expect([answer.status, await answer.text()]).toEqual([304, '']);
});
