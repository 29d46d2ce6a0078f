/** Part of `npm run check`: no package may come in whose bytes package-lock.json does not vouch for. */
import { readFile } from 'node:fs/promises';
import { CommandError, explain } from '../../src/cli/failure.ts';

interface Lock {
  packages: Record<string, { integrity?: string; link?: boolean }>;
}

const LOCK = new URL('../../package-lock.json', import.meta.url);

try {
  const { packages } = JSON.parse(await readFile(LOCK, 'utf8')) as Lock;
  // The entry without a name is the project itself; what is outside node_modules is a workspace, to which a link leads.
  const unverified = Object.entries(packages)
    .filter(([name, { integrity, link }]) => name.startsWith('node_modules/') && !integrity && !link)
    .map(([name]) => name);
  if (unverified.length > 0)
    throw new CommandError(`package-lock.json has no integrity for:\n${unverified.join('\n')}`);
} catch (error) {
  console.error(explain(error));
  process.exitCode = 1;
}
