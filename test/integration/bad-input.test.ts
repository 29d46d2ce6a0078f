import { describe } from 'vitest';
import {
  describeBadAddresses,
  describeBadBodies,
  describeBadForms,
  EACH_KIND_OF_FORM,
  FEW_BODIES,
  openBench,
  testStillAnswers,
} from '../support/bad-input/suites.ts';

const RUNS = 3;

const bench = await openBench();
describe('addresses', () => describeBadAddresses(bench, RUNS));
describe('forms', () => describeBadForms(bench, RUNS));
describe('bodies', () => describeBadBodies(bench, RUNS, FEW_BODIES, EACH_KIND_OF_FORM));
testStillAnswers(bench);
