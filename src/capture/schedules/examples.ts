import { AGENT_ID } from '../agents/examples.ts';

export const SCHEDULING = {
  agent_id: AGENT_ID,
  start: '2026-10-12T08:15:00Z',
  end: '2026-10-12T09:45:00Z',
  inputs: ['camera', 'screen'],
};

export const CONFLICTS = [
  { start: '2026-10-12T09:00:00Z', end: '2026-10-12T10:30:00Z', title: 'Algebra I, lecture 1' },
];
