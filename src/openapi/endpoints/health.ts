import { Liveness, Readiness } from '../../http/health.schemas.ts';
import type { Endpoint } from '../endpoint.ts';

/** For whoever watches the service; open to everybody. */
export const HEALTH: readonly Endpoint[] = [
  {
    method: 'get',
    path: '/health/live',
    tag: 'Health',
    summary: 'Whether the process answers',
    description: 'Says nothing of the parts that it depends on.',
    open: true,
    answers: { 200: { description: 'It does.', plain: true, body: Liveness, example: { status: 'live' } } },
    refusals: { 500: 'Internal server error; the log has the details under request id 6f1f1d0e.' },
  },
  {
    method: 'get',
    path: '/health/ready',
    tag: 'Health',
    summary: 'Whether every part answers',
    description: 'Database, queue and object storage. Why a part does not answer is in the log.',
    open: true,
    answers: {
      200: {
        description: 'All do.',
        plain: true,
        body: Readiness,
        example: { status: 'ready', database: 'ok', queue: 'ok', storage: 'ok' },
      },
      503: {
        description: 'At least one does not.',
        plain: true,
        body: Readiness,
        example: { status: 'unavailable', database: 'ok', queue: 'unavailable', storage: 'ok' },
      },
    },
    refusals: { 500: 'Internal server error; the log has the details under request id 6f1f1d0e.' },
  },
];
