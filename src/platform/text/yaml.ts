import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isNode, LineCounter, parseDocument } from 'yaml';
import type { z } from 'zod';
import { ConfigError } from '../setting/value-kinds.ts';

export interface ConfigFile<T> {
  file: string;
  data: T;
  /** Reports an error at a node, or its nearest parent. @throws {ConfigError} `FILE:LINE: what is wrong` */
  fail(path: readonly PropertyKey[], message: string): never;
}

/** Reads the YAML files of a folder, sorted by name. @throws {ConfigError} when the folder cannot be read */
export async function readYamlFolder(variable: string, folder: string): Promise<{ file: string; source: string }[]> {
  let names: string[];
  try {
    names = await readdir(folder);
  } catch {
    throw new ConfigError(`${variable} is ${JSON.stringify(folder)}; allowed is a folder that can be read.`);
  }
  const files = names.filter((name) => /\.ya?ml$/.test(name)).sort();
  return Promise.all(
    files.map(async (name) => {
      const file = join(folder, name);
      return { file, source: await readFile(file, 'utf8') };
    }),
  );
}

/** Parses and checks a YAML file. @throws {ConfigError} `FILE:LINE: what is wrong` */
export function parseYaml<S extends z.ZodType>(file: string, source: string, schema: S): ConfigFile<z.output<S>> {
  const lines = new LineCounter();
  const document = parseDocument(source, { lineCounter: lines, prettyErrors: false });
  const failAt = (offset: number, message: string): never => {
    throw new ConfigError(`${file}:${lines.linePos(offset).line}: ${message}`);
  };
  const fail = (path: readonly PropertyKey[], message: string): never => {
    for (let depth = path.length; depth > 0; depth -= 1) {
      const node = document.getIn(path.slice(0, depth), true);
      if (isNode(node) && node.range) return failAt(node.range[0], message);
    }
    return failAt(document.contents?.range?.[0] ?? 0, message);
  };
  const [broken] = document.errors;
  if (broken) return failAt(broken.pos[0], broken.message);
  const parsed = schema.safeParse(document.toJS());
  if (parsed.success) return { file, data: parsed.data, fail };
  const [issue] = parsed.error.issues;
  const path = issue?.path ?? [];
  return fail(path, `${path.join('.') || 'the file'}: ${issue?.message}`);
}
