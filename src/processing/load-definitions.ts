import { fileURLToPath } from 'node:url';
import { ConfigError } from '#platform/setting/value-kinds.ts';
import { parseYaml, readYamlFolder } from '#platform/text/yaml.ts';
import { DefinitionSchema, type OperationDefinition, PAUSE, type WorkflowDefinition } from './workflow-definition.ts';

const BUILT_IN = fileURLToPath(new URL('./definitions/', import.meta.url));
/** The default for an unknown workflow name (compatibility 3.5). */
export const DEFAULT_WORKFLOW = 'schedule-and-upload';

/** Returns an error in the configuration of an operation and the key it concerns; undefined without one. */
export type OperationCheck = (operation: OperationDefinition) => { key: string; message: string } | undefined;

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
 * @param operations names of the operations that workers support, if this process knows them
 * @throws {ConfigError} with the file, the line and the error
 */
export async function loadDefinitions(
  workflowsDir: string | undefined,
  operations?: ReadonlySet<string>,
  faultOf?: OperationCheck,
): Promise<WorkflowDefinitions> {
  const definitions = new Map<string, WorkflowDefinition>();
  const names = new Map<string, WorkflowDefinition>();
  for (const folder of workflowsDir ? [BUILT_IN, workflowsDir] : [BUILT_IN]) {
    const own = await readFolder(folder, operations, faultOf);
    for (const definition of own) {
      const replaced = definitions.get(definition.id);
      for (const alias of replaced?.aliases ?? []) names.delete(alias);
      definitions.set(definition.id, definition);
      for (const name of [definition.id, ...definition.aliases]) names.set(name, definition);
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

async function readFolder(
  folder: string,
  operations?: ReadonlySet<string>,
  faultOf?: OperationCheck,
): Promise<WorkflowDefinition[]> {
  const seen = new Map<string, string>();
  const definitions: WorkflowDefinition[] = [];
  for (const { file, source } of await readYamlFolder('WORKFLOWS_DIR', folder)) {
    const definition = parseDefinition(file, source, operations, faultOf);
    for (const id of [definition.id, ...definition.aliases]) {
      const other = seen.get(id);
      if (other) throw new ConfigError(`${file}: the id "${id}" is already used in ${other}.`);
      seen.set(id, file);
    }
    definitions.push(definition);
  }
  return definitions;
}

export function parseDefinition(
  file: string,
  source: string,
  operations?: ReadonlySet<string>,
  faultOf?: OperationCheck,
): WorkflowDefinition {
  const { data, fail } = parseYaml(file, source, DefinitionSchema);
  for (const list of ['operations', 'on_failure'] as const) {
    data[list].forEach((each, index) => {
      const { operation } = each;
      const fault = faultOf?.(each);
      if (fault) fail([list, index, 'configuration', fault.key], fault.message);
      if (!operations || operation === PAUSE || operations.has(operation)) return;
      const known = [PAUSE, ...operations].sort().join(', ');
      fail([list, index, 'operation'], `unknown operation "${operation}"; allowed are ${known}`);
    });
  }
  return data;
}
