import type { Config } from '#platform/config/config.ts';
import { loadDefinitions, type WorkflowDefinitions } from '#processing/load-definitions.ts';
import { operationCheck } from '#processing/operation-check.ts';
import { captions } from './captions.ts';
import { command } from './command.ts';
import { cut } from './cut.ts';
import { editorPreview } from './editor-preview.ts';
import { encode } from './encode.ts';
import { inspect } from './inspect.ts';
import type { Operation } from './operation.ts';
import { preview } from './preview.ts';
import { publish, republish, retract } from './publish.ts';
import { programsIn } from './site-program.ts';
import { transcribe } from './transcribe.ts';

/** Does nothing. Used to measure the workflow engine and to try out workflow definitions. */
export const noop: Operation = {
  name: 'noop',
  lane: 'light',
  run: async () => async () => undefined,
};

/**
 * All operations, by the name used in workflow definitions. To add one, write a file in this folder and list it here.
 */
export const operations: ReadonlyMap<string, Operation> = new Map(
  [inspect, cut, encode, preview, editorPreview, captions, publish, republish, retract, transcribe, command, noop].map(
    (operation) => [operation.name, operation],
  ),
);

/** Loads the workflow definitions. @throws {ConfigError} if one has an operation or a program that does not exist */
export async function loadRunnableDefinitions(
  config: Pick<Config, 'operations' | 'workflowsDir'>,
): Promise<WorkflowDefinitions> {
  const programs = await programsIn(config.operations.commandsDir);
  return loadDefinitions(config.workflowsDir, { faultOf: operationCheck(new Set(operations.keys()), programs) });
}
