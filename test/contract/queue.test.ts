import { describe } from 'vitest';
import { POSTGRES, testRelay, testWorkQueue } from '../support/queues.ts';

describe('work queue over PostgreSQL', () => testWorkQueue(POSTGRES));
describe('a relay to a queue on PostgreSQL', () => testRelay(POSTGRES));
