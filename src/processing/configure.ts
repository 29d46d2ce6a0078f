import { compileCondition } from './condition.ts';
import { PAUSE } from './definition.ts';
import type { LockedWorkflow, Step } from './locked-workflow.ts';

/**
 * Decides anew by the configuration which operations take part that have not begun and whose turn has not passed. What
 * was held goes back to its place; those that wait for a person go on doing so.
 */
export function decide(workflow: LockedWorkflow): void {
  for (const step of workflow.stepsIn(['paused']))
    if (step.operation !== PAUSE) workflow.moveStep(step, 'waiting');
  for (const step of workflow.stepsIn(['waiting', 'skipped'])) {
    if (step.condition === null || hasTurnPassed(workflow, step)) continue;
    const takesPart = compileCondition(step.condition).test(workflow.configuration);
    const to = takesPart ? 'waiting' : 'skipped';
    if (to !== step.state) workflow.moveStep(step, to);
  }
}

function hasTurnPassed({ steps }: LockedWorkflow, { position, onFailure }: Step): boolean {
  return steps.some(
    (step) =>
      step.onFailure === onFailure &&
      step.position > position &&
      step.state !== 'waiting' &&
      step.state !== 'skipped',
  );
}
