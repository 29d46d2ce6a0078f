import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** By what a process that would never end is known; several files are tested at once on one machine. */
export const ENDLESS_SECONDS = 79_871_000 + process.pid;

const PROGRAMS: Readonly<Record<string, string>> = {
  'subtitles.sh': 'printf "WEBVTT\\n\\n00:00.000 --> 00:01.000\\nHello\\n" > "$2/en.vtt"',
  'endless.sh': `/bin/sleep ${ENDLESS_SECONDS} & wait`,
};

const DEFINITIONS: Readonly<Record<string, string>> = {
  subtitled: `
id: subtitled
title: With subtitles
operations:
  - operation: inspect
  - operation: command
    configuration: { program: subtitles.sh, output_flavor: captions/source, output_tags: 'lang:en' }
  - operation: encode
  - operation: captions
  - operation: publish
`,
  endless: `
id: endless
title: Without end
operations:
  - operation: command
    configuration: { program: endless.sh }
`,
};

/** What a site brings along: programs of its own, and workflows that run them. */
export async function siteFolders() {
  const folder = await mkdtemp(join(tmpdir(), 'inlet-site-'));
  const [commands, workflows] = [join(folder, 'commands'), join(folder, 'workflows')];
  await mkdir(commands);
  await mkdir(workflows);
  for (const [name, script] of Object.entries(PROGRAMS)) {
    await writeFile(join(commands, name), `#!/bin/sh\n${script}\n`);
    await chmod(join(commands, name), 0o755);
  }
  for (const [name, text] of Object.entries(DEFINITIONS)) await writeFile(join(workflows, `${name}.yaml`), text);
  return { commands, workflows, remove: () => rm(folder, { recursive: true, force: true }) };
}
