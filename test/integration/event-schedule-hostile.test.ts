import fc from 'fast-check';
import { afterAll, beforeAll, test } from 'vitest';
import { createTestApp, type TestApp } from '../support/app.ts';
import { hostileJson } from '../support/bad-input/hostile.ts';
import { Judge } from '../support/bad-input/judge.ts';
import { eventFields, field, form } from '../support/form.ts';

const SINGLE = {
  agent_id: 'room',
  start: '2030-01-07T09:00:00Z',
  end: '2030-01-07T10:00:00Z',
  inputs: ['camera'],
};
const RULE = {
  agent_id: 'room',
  start: '2031-01-07T00:00:00Z',
  end: '2031-02-07T00:00:00Z',
  duration: 3_600_000,
  rrule: 'FREQ=WEEKLY;BYDAY=MO,TH;BYHOUR=9;BYMINUTE=30',
};

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app?.close());

test.each([
  ['single', SINGLE],
  ['recurring', RULE],
])('%s scheduling that is not as it should be is refused or understood', async (_, scheduling) => {
  await fc.assert(
    fc.asyncProperty(hostileJson(JSON.stringify(scheduling)), async (hostile) => {
      // What was understood before would stand in the way.
      await app.database.deleteFrom('events').execute();
      const { type, body } = form([...eventFields(), field('scheduling', hostile)]);
      const headers = { 'Content-Type': type };
      await new Judge(app).try({ method: 'POST', path: '/api/events', headers, body });
    }),
    { numRuns: 100 },
  );
  await new Judge(app).stillAnswers();
});
