import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '#test/support/folders.ts';
import { frameOrigins, readLaunchKeys } from './launch-keys.ts';

const consumer = { name: 'moodle', key: 'k', secret: 'a secret of 26 characters' };
const platform = {
  ...{ name: 'ilias', issuer: 'https://ilias.example.org', clientId: 'c', deployments: ['1'] },
  ...{ authorization: 'https://ilias.example.org/auth', keys: 'https://ilias.example.org/keys' },
};

async function read(content: unknown) {
  const path = join(await temporaryFolder(), 'lti.json');
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
  return readLaunchKeys(path);
}

test('names platforms, and the origins that may frame pages', async () => {
  const keys = await read({
    consumers: [{ ...consumer, origins: ['https://moodle.example.org'] }],
    platforms: [platform],
  });
  expect(keys.consumers[0]).toMatchObject({ trustUsernames: false, instructorRoles: [], contextPrefix: '' });
  expect(frameOrigins(keys)).toEqual(['https://moodle.example.org', 'https://ilias.example.org']);
});

test.each<[unknown, string]>([
  ['{', 'is not valid JSON'],
  [[], 'is invalid'],
  [{ consumers: [{ ...consumer, secret: 'short' }] }, 'consumers.0.secret: must have at least 16 characters'],
  [{ consumers: [{ ...consumer, name: 'a:b' }] }, 'consumers.0.name'],
  [{ consumers: [{ ...consumer, trust: true }] }, 'trust'],
  [{ consumers: [{ ...consumer, contextPrefix: 'role_' }] }, 'consumers.0.contextPrefix'],
  ...['ROLE_ADMIN', 'ROLE_CAPTURE_AGENT'].map((role): [unknown, string] => [
    { consumers: [{ ...consumer, instructorRoles: [role] }] },
    'consumers.0.instructorRoles.0: must be a role other',
  ]),
  [{ consumers: [consumer, { ...consumer, key: 'other' }] }, 'repeats the name "moodle"'],
  [{ consumers: [consumer, { ...consumer, name: 'other' }] }, 'repeats the key "k"'],
  [{ platforms: [{ ...platform, keys: 'file:///etc/passwd' }] }, 'platforms.0.keys: must be a URL'],
  [{ platforms: [{ ...platform, deployments: [] }] }, 'platforms.0.deployments'],
])('stops the start for %j', async (content, sentence) => {
  const message = await read(content).catch((error: Error) => error.message);
  expect(message).toMatch(/^LTI_KEYS is ".*", but the file .*\.$/);
  expect(message).toContain(sentence);
  expect(message).not.toContain('a secret of 26');
});

test('a file that does not exist stops the start', async () => {
  await expect(readLaunchKeys('/nowhere/lti.json')).rejects.toThrow('cannot be read');
});
