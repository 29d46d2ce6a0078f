import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { followUpdates } from './live.browser.ts';

let script: string | undefined;

/** What brings a page up to date; our own part is sent as the text that the runtime has of it, types taken out. */
export function liveScript(): string {
  if (script === undefined) {
    const path = createRequire(import.meta.url).resolve('idiomorph/dist/idiomorph.min.js');
    script = `${readFileSync(path, 'utf8')};(${followUpdates})(Idiomorph);`;
  }
  return script;
}
