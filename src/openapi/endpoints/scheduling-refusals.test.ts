import { expect, test } from 'vitest';
import { occurrencesOf } from '../../recordings/recurrence/occurrences.ts';
import { parseNewScheduling, parseSchedulingChange } from '../../recordings/schedules/parse.ts';
import { EVENT_SCHEDULING } from './event-scheduling.ts';
import { EVENTS } from './events.ts';

const START = '2030-01-07T09:00:00Z';
const END = '2030-01-07T10:00:00Z';
const RULE = 'BYHOUR=9;BYMINUTE=15';

const create = (scheduling: object | string) =>
  parseNewScheduling(typeof scheduling === 'string' ? scheduling : JSON.stringify(scheduling));
const change = (scheduling: object) =>
  parseSchedulingChange(JSON.stringify(scheduling), { unreadable: 'Unparsable scheduling information' });
const recur = (rule: string) =>
  occurrencesOf({ rule, start: new Date(START), end: new Date(END), timeZone: 'UTC', maxOccurrences: 10 });

function documented(method: string, path: string): readonly string[] {
  const endpoints = [...EVENTS, ...EVENT_SCHEDULING];
  const endpoint = endpoints.find((each) => each.method === method && each.path === path);
  return [endpoint?.refusals?.[400] ?? []].flat();
}

test.each<[string, () => unknown]>([
  ['that is no object', () => create('[]')],
  ['without an end', () => create({ agent_id: 'hall', start: START })],
  ['with a rule and no duration', () => create({ agent_id: 'hall', start: START, end: END, rrule: RULE })],
  ['without an agent', () => create({ start: START, end: END })],
  ['with a rule for every second', () => recur('FREQ=SECONDLY')],
  ['with a rule that gives nothing', () => recur(`FREQ=DAILY;${RULE};BYMONTH=2`)],
])('the example of a refusal of scheduling %s is what is answered', (_, refused) => {
  expect(documented('post', '/api/events')).toContain(sentenceOf(refused));
});

test.each<[string, () => unknown]>([
  ['with an impossible date', () => change({ start: '2030-02-30T09:00:00Z', end: END })],
  ['without an end', () => change({ start: START })],
])('the example of a refusal of changed scheduling %s is what is answered', (_, refused) => {
  const sentence = sentenceOf(refused);
  expect(documented('put', '/api/events/{event_id}/scheduling')).toContain(sentence);
  expect(documented('post', '/api/events/{event_id}')).toContain(sentence);
});

function sentenceOf(refused: () => unknown): string {
  try {
    refused();
  } catch (error) {
    return (error as Error).message;
  }
  return 'not refused';
}
