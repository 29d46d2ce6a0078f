import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { AGENTS_PATH, removeAgents } from './agents-page-words.ts';
import { createTestApp, type TestApp } from './app.ts';

/** An application whose agents go after each test of a file. */
export interface AgentsPage {
  readonly app: TestApp;
  /** The page, by what follows its path. */
  text(query?: string): Promise<string>;
}

/** Opens and closes it with the tests of a file. */
export function agentsPageForThisFile(): AgentsPage {
  let opened: TestApp | undefined;
  const app = () => {
    if (!opened) throw new Error('The application is not open yet.');
    return opened;
  };
  beforeAll(async () => {
    opened = await createTestApp();
  });
  afterAll(() => opened?.close());
  afterEach(() => removeAgents(app().database));
  return {
    get app() {
      return app();
    },
    text: async (query = '') => {
      const answer = await app().request(AGENTS_PATH + query);
      expect(answer.status).toBe(200);
      return answer.text();
    },
  };
}
