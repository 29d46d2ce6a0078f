import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { locateTools } from '#platform/media/tools/locate-tools.ts';
import { temporaryFolder } from '#test/support/folders.ts';
import { doctorCommand } from './doctor.ts';
import { eventsCommand } from './events.ts';

/** What the doctor says where there is no database and no ffmpeg. */
async function examined(environment: NodeJS.ProcessEnv): Promise<string> {
  const lines: string[] = [];
  await doctorCommand.run([], {
    environment: {
      DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
      FFMPEG_PATH: '/nowhere/ffmpeg',
      FFPROBE_PATH: '/nowhere/ffprobe',
      ...environment,
    },
    signal: new AbortController().signal,
    print: (line) => void lines.push(line),
    screen: process.stderr,
  });
  return lines.join('\n');
}

test('the temporary folder that is looked at is the one that Inlet uses', async () => {
  const dataDir = await temporaryFolder();
  const usual = await examined({ DATA_DIR: dataDir });
  expect(usual).toMatch(new RegExp(`^(ok  |warn)  folders +TMPDIR ${dataDir}/tmp, `, 'm'));
  // As a shell has it that was told of no value.
  expect(await examined({ DATA_DIR: dataDir, TMPDIR: '' })).toContain(`TMPDIR ${dataDir}/tmp, `);
  const chosen = join(dataDir, 'elsewhere');
  expect(await examined({ DATA_DIR: dataDir, TMPDIR: chosen })).toContain(`TMPDIR ${chosen}, `);
});

test('what no worker starts with is no part that works', async () => {
  const dataDir = await temporaryFolder();
  const workflows = join(dataDir, 'workflows');
  await mkdir(workflows);
  await writeFile(join(workflows, 'broken.yaml'), 'id: [');
  const { ffmpeg, ffprobe } = await locateTools({ ffmpegPath: undefined, ffprobePath: undefined }, '');
  const bundled = { FFMPEG_PATH: ffmpeg, FFPROBE_PATH: ffprobe };
  const site = { DATA_DIR: dataDir, ADMIN_PASSWORD: 'long enough', ...bundled };
  const proxied = { PUBLIC_URL: 'https://video.invalid', WORKFLOWS_DIR: workflows };
  const elsewhere = await examined({ ...site, ...proxied });
  expect(elsewhere).toMatch(/^FAIL {2}ffmpeg +The only ffmpeg found is the one from npm/m);
  expect(elsewhere).toMatch(/^FAIL {2}definitions .*broken\.yaml/m);
  const here = await examined(site);
  expect(here).toMatch(/^warn {2}ffmpeg /m);
  expect(here).toMatch(/^ok {4}definitions +\d+ workflows, 0 metadata catalogs of the site/m);
});

test.each(['--text', '--series'])('a comma in %s of events is refused: it ends a filter of the API', async (option) => {
  const listing = eventsCommand.run([option, 'Smith, John'], {
    environment: {},
    signal: AbortSignal.abort(new Error('It asked the server.')),
    print: () => undefined,
    screen: process.stderr,
  });
  const sentence = `${option} is "Smith, John"; it must not contain a comma, which separates filters of the API.`;
  await expect(listing).rejects.toThrow(sentence);
});
