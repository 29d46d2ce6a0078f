import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isNode, LineCounter, parseDocument } from 'yaml';
import { ConfigError } from '../config.ts';
import { DefinitionSchema, PAUSE, type WorkflowDefinition } from './definition.ts';

const BUILT_IN = fileURLToPath(new URL('./definitions/', import.meta.url));
/** What runs when a client names a workflow that does not exist (compatibility 3.5). */
const USUAL = 'schedule-and-upload';

/** The workflow definitions of this installation. */
export interface WorkflowDefinitions {
  all(): WorkflowDefinition[];
  /** By identifier or alias; the usual workflow for a name nobody knows. */
  resolve(name: string): WorkflowDefinition;
}

/**
 * Reads the built-in definitions and those of the site's own folder, which replace built-in ones of the same id.
 *
 * @param operations names of the operations that workers know, where this process knows them
 * @throws {ConfigError} naming file, line and what is wrong with it
 */
export async function loadDefinitions(
  workflowsDir: string | undefined,
  operations?: ReadonlySet<string>,
): Promise<WorkflowDefinitions> {
  const definitions = new Map<string, WorkflowDefinition>();
  const names = new Map<string, WorkflowDefinition>();
  for (const folder of workflowsDir ? [BUILT_IN, workflowsDir] : [BUILT_IN]) {
    const own = await readFolder(folder, operations);
    for (const definition of own) {
      const replaced = definitions.get(definition.id);
      for (const alias of replaced?.aliases ?? []) names.delete(alias);
      definitions.set(definition.id, definition);
      for (const name of [definition.id, ...definition.aliases]) names.set(name, definition);
    }
  }
  const usual = names.get(USUAL);
  if (!usual) throw new ConfigError(`No workflow definition has the id "${USUAL}".`);
  return {
    all: () => [...definitions.values()],
    resolve: (name) => names.get(name) ?? usual,
  };
}

async function readFolder(folder: string, operations?: ReadonlySet<string>): Promise<WorkflowDefinition[]> {
  let entries: string[];
  try {
    entries = await readdir(folder);
  } catch {
    throw new ConfigError(
      `WORKFLOWS_DIR is ${JSON.stringify(folder)}; allowed is a folder that can be read.`,
    );
  }
  const files = entries.filter((name) => /\.ya?ml$/.test(name)).sort();
  const seen = new Map<string, string>();
  const definitions: WorkflowDefinition[] = [];
  for (const name of files) {
    const file = join(folder, name);
    const definition = parseDefinition(file, await readFile(file, 'utf8'), operations);
    for (const id of [definition.id, ...definition.aliases]) {
      const other = seen.get(id);
      if (other) throw new ConfigError(`${file}: the id "${id}" is taken by ${other}.`);
      seen.set(id, file);
    }
    definitions.push(definition);
  }
  return definitions;
}

/** @throws {ConfigError} `FILE:LINE: what is wrong` */
export function parseDefinition(
  file: string,
  source: string,
  operations?: ReadonlySet<string>,
): WorkflowDefinition {
  const lines = new LineCounter();
  const document = parseDocument(source, { lineCounter: lines, prettyErrors: false });
  const fail = (offset: number, message: string): never => {
    throw new ConfigError(`${file}:${lines.linePos(offset).line}: ${message}`);
  };
  const [broken] = document.errors;
  if (broken) return fail(broken.pos[0], broken.message);

  const offsetOf = (path: readonly PropertyKey[]): number => {
    for (let depth = path.length; depth > 0; depth -= 1) {
      const node = document.getIn(path.slice(0, depth), true);
      if (isNode(node) && node.range) return node.range[0];
    }
    return document.contents?.range?.[0] ?? 0;
  };
  const parsed = DefinitionSchema.safeParse(document.toJS());
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const path = issue?.path ?? [];
    return fail(offsetOf(path), `${path.join('.') || 'the file'}: ${issue?.message}`);
  }
  parsed.data.operations.forEach(({ operation }, index) => {
    if (!operations || operation === PAUSE || operations.has(operation)) return;
    const known = [PAUSE, ...operations].sort().join(', ');
    fail(
      offsetOf(['operations', index, 'operation']),
      `no operation is called "${operation}"; there are ${known}`,
    );
  });
  return parsed.data;
}
