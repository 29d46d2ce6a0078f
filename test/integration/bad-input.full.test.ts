import { describe } from 'vitest';
import { WITH_FORM } from '../support/bad-input/endpoints.ts';
import {
  ALL_BODIES,
  describeBadAddresses,
  describeBadBodies,
  describeBadForms,
  openBench,
  testStillAnswers,
} from '../support/bad-input/suites.ts';

const RUNS = 20;

const bench = await openBench();
describe('addresses', () => describeBadAddresses(bench, RUNS));
describe('forms', () => describeBadForms(bench, RUNS));
describe('bodies', () => describeBadBodies(bench, RUNS, ALL_BODIES, WITH_FORM));
testStillAnswers(bench);
