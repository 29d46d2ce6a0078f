import { fileURLToPath } from 'node:url';
import { ConfigError } from '#platform/setting/value-kinds.ts';
import { parseYaml, readYamlFolder } from '#platform/text/yaml.ts';
import { DefinitionSchema, type OperationDefinition, type WorkflowDefinition } from './workflow-definition.ts';

const BUILT_IN = fileURLToPath(new URL('./definitions/', import.meta.url));
/** The default for an unknown workflow name (compatibility 3.5). */
export const DEFAULT_WORKFLOW = 'schedule-and-upload';

/** Returns an error of an operation and the path of the value that it concerns; undefined without one. */
export type OperationCheck = (operation: OperationDefinition) => { path: string[]; message: string } | undefined;

interface LoadOptions {
  faultOf?: OperationCheck | undefined;
  /** Operations that need a service which the site has not configured. They are left out. */
  unavailable?: readonly string[] | undefined;
}

/** The workflow definitions of this installation. */
export interface WorkflowDefinitions {
  all(): WorkflowDefinition[];
  /** Reports whether a definition has this identifier or alias. */
  knows(name: string): boolean;
  /** Returns a definition by identifier or alias; the default one for an unknown name. */
  resolve(name: string): WorkflowDefinition;
}

/**
 * Reads the built-in definitions and those of the site's own folder, which replace built-in ones with the same id.
 *
 * @throws {ConfigError} with the file, the line and the error
 */
export async function loadDefinitions(
  workflowsDir: string | undefined,
  { faultOf, unavailable = [] }: LoadOptions = {},
): Promise<WorkflowDefinitions> {
  const definitions = new Map<string, WorkflowDefinition>();
  const names = new Map<string, WorkflowDefinition>();
  for (const folder of workflowsDir ? [BUILT_IN, workflowsDir] : [BUILT_IN]) {
    const files = new Map<string, string>();
    for (const { file, source } of await readYamlFolder('WORKFLOWS_DIR', folder)) {
      const definition = availablePart(parseDefinition(file, source, faultOf), unavailable);
      if (!definition) continue;
      for (const alias of definitions.get(definition.id)?.aliases ?? []) names.delete(alias);
      definitions.set(definition.id, definition);
      for (const name of [definition.id, ...definition.aliases]) {
        const other = files.get(name);
        if (other) throw new ConfigError(`${file}: the id "${name}" is already used in ${other}.`);
        files.set(name, file);
        names.set(name, definition);
      }
    }
  }
  const usual = names.get(DEFAULT_WORKFLOW);
  if (!usual) throw new ConfigError(`No workflow definition has the id "${DEFAULT_WORKFLOW}".`);
  return {
    all: () => [...definitions.values()],
    knows: (name) => names.has(name),
    resolve: (name) => names.get(name) ?? usual,
  };
}

/** Parses the definition in a file. @throws {ConfigError} with the file, the line and the error */
export function parseDefinition(file: string, source: string, faultOf?: OperationCheck): WorkflowDefinition {
  const { data, fail } = parseYaml(file, source, DefinitionSchema);
  for (const list of ['operations', 'on_failure'] as const) {
    data[list].forEach((operation, index) => {
      const fault = faultOf?.(operation);
      if (fault) fail([list, index, ...fault.path], fault.message);
    });
  }
  return data;
}

/** Returns a definition without some operations, or undefined if it has no other. */
function availablePart(definition: WorkflowDefinition, names: readonly string[]): WorkflowDefinition | undefined {
  const operations = definition.operations.filter(({ operation }) => !names.includes(operation));
  return operations.length > 0 ? { ...definition, operations } : undefined;
}
