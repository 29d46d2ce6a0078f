import { DEFAULT_CHANNEL } from '#publications/publication.ts';
import { withdrawPublication } from '#publications/publish.ts';
import type { LockedWorkflow } from './locked-workflow.ts';
import type { Step } from './operation-queries.ts';
import { compileCondition } from './workflow-definition.ts';

/**
 * Withdraws what a workflow has published early if the condition of that operation no longer holds, because somebody has
 * decided since not to publish, or to have a review first. The files are published when the workflow publishes again.
 */
export async function withdrawUnwanted(workflow: LockedWorkflow): Promise<void> {
  const publishing = workflow.steps.filter(({ operation }) => operation === 'publish');
  const complete = publishing.filter((step) => !isEarly(step) && step.state === 'succeeded').map(channelOf);
  // After a retry from the start, it may wait again, and what it published is still there.
  const unwanted = publishing.filter(
    (step) =>
      isEarly(step) &&
      step.state !== 'skipped' &&
      step.condition &&
      !compileCondition(step.condition).test(workflow.configuration),
  );
  for (const channel of new Set(unwanted.map(channelOf))) {
    if (complete.includes(channel)) continue;
    await withdrawPublication(workflow.trx, { eventId: workflow.eventId, channel, workflowId: workflow.id });
  }
}

function isEarly({ configuration }: Step): boolean {
  return configuration.early === 'true';
}

function channelOf({ configuration }: Step): string {
  return configuration.channel || DEFAULT_CHANNEL;
}
