import { expect, test } from 'vitest';
import { endpointApp } from '../../test/support/endpoint-app.ts';
import { apiInfo, apiVersions, defaultVersion } from './base.endpoints.ts';

const app = endpointApp([apiInfo, apiVersions, defaultVersion], {
  config: { publicUrl: 'https://media.example' },
});

test.each([
  ['/api', { url: 'https://media.example/api', version: 'v1.11.0' }],
  ['/api/', { url: 'https://media.example/api', version: 'v1.11.0' }],
  ['/api/version/default', { default: 'v1.11.0' }],
  [
    '/api/version',
    {
      versions: 'v1.0.0 v1.1.0 v1.2.0 v1.3.0 v1.4.0 v1.5.0 v1.6.0 v1.7.0 v1.8.0 v1.9.0 v1.10.0 v1.11.0'.split(
        ' ',
      ),
      default: 'v1.11.0',
    },
  ],
])('GET %s', async (path, body) => {
  const response = await app.request(path);
  expect(response.headers.get('Content-Type')).toBe('application/json');
  expect(await response.json()).toEqual(body);
});
