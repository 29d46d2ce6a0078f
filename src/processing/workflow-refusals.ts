import { refusal } from '#platform/http/errors/errors.ts';
import { HEIGHTS } from '#platform/media/ladder.ts';
import { EVENT_ID } from './workflow-examples.ts';

export const EVENT_MISSING = refusal(404, (id: string) => `Cannot find an event with id '${id}'.`, [EVENT_ID]);
export const DEFINITION_MISSING = refusal(404, (id: string) => `Cannot find workflow definition with id '${id}'.`, [
  'publish-twice',
]);
export const WORKFLOW_MISSING = refusal(404, (id: string) => `Cannot find workflow instance with id '${id}'.`, ['42']);
export const MISSING_PARAMETER = refusal(400, (name: string) => `Required parameter '${name}' is missing or invalid`, [
  'event_identifier',
]);
export const INVALID_CONFIGURATION = refusal(400, "Passed parameter 'configuration' is invalid JSON.");
export const INVALID_HEIGHTS = refusal(
  400,
  (heights: string) =>
    `'heights' in the configuration is '${heights}'; it must be a comma-separated list of ${HEIGHTS.join(', ')} and source.`,
  ['720p'],
);
export const ILLEGAL_MOVE = refusal(
  409,
  (from: string, to: string) => `The workflow cannot move from ${from} to ${to}.`,
  ['SUCCEEDED', 'RUNNING'],
);
export const SUPERSEDED = refusal(409, 'The event has a later workflow; retry that one.');
export const NOT_DELETABLE = refusal(409, 'Cannot delete workflow instance in this workflow state');
