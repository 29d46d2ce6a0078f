import { expect, test } from 'vitest';
import { eventsCommand } from './events.ts';

test.each(['--text', '--series'])(
  'a comma in %s is refused: the API would drop what comes after it',
  async (option) => {
    const listing = eventsCommand.run([option, 'Smith, John'], {
      environment: {},
      signal: AbortSignal.abort(new Error('It asked the server.')),
      print: () => undefined,
      screen: process.stderr,
    });
    await expect(listing).rejects.toThrow(
      `${option} is "Smith, John"; a comma ends a filter of the API, and nothing can escape it.`,
    );
  },
);
