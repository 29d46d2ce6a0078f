/** Part of `npm run check`: no package may come in whose bytes package-lock.json does not vouch for. */
import { readFile } from 'node:fs/promises';
import { CommandError, explain } from './failure.ts';

interface Lock {
  packages: Record<string, { integrity?: string }>;
}

const LOCK = new URL('../../package-lock.json', import.meta.url);

try {
  const { packages } = JSON.parse(await readFile(LOCK, 'utf8')) as Lock;
  // The entry without a name is the project itself.
  const unverified = Object.keys(packages).filter((name) => name !== '' && !packages[name]?.integrity);
  if (unverified.length > 0)
    throw new CommandError(`package-lock.json has no integrity for:\n${unverified.join('\n')}`);
} catch (error) {
  console.error(explain(error));
  process.exitCode = 1;
}
