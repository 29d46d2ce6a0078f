/**
 * Part of `npm run check`: fails when names, messages, pages or documents hold a word of `avoided-words.yaml`.
 * `node tools/checks/words.ts GLOB...` reads only the files given.
 */
import { glob, readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import ts from 'typescript';
import { parse } from 'yaml';
import { CommandError, explain } from '../../src/cli/failure.ts';

type Kind = 'text' | 'docstring' | 'name';
type Rules = Record<Kind, [pattern: string, instead: string][]>;
interface Piece {
  kind: Kind;
  text: string;
  line: number;
}

const PROJECT = fileURLToPath(new URL('../../', import.meta.url));
const LIST = new URL('./avoided-words.yaml', import.meta.url);
const NOT_READ = /\.test\.ts$|\.json$|\/schema\.ts$|avoided-words/;

try {
  const { positionals } = parseArgs({ allowPositionals: true });
  const list = parse(await readFile(LIST, 'utf8')) as Rules & { checked: string[] };
  const globs = positionals.length > 0 ? positionals : list.checked;
  const patterns = (kind: Kind) =>
    list[kind].map(([pattern, instead]) => ({ find: new RegExp(acrossLines(pattern), 'gi'), instead }));
  const rules = { text: patterns('text'), docstring: patterns('docstring'), name: patterns('name') };
  const found: string[] = [];
  for (const file of await filesOf(globs)) {
    for (const { kind, text, line } of piecesOf(file, await readFile(`${PROJECT}${file}`, 'utf8'))) {
      for (const { find, instead } of rules[kind])
        for (const match of text.matchAll(find)) {
          const at = line + text.slice(0, match.index).split('\n').length - 1;
          found.push(`${file}:${at} "${match[0].replaceAll(/[\s*]+/g, ' ').trim()}" in a ${kind}; write: ${instead}`);
        }
    }
  }
  if (found.length > 0) throw new CommandError(`${found.join('\n')}\n${found.length} avoided words.`);
} catch (error) {
  console.error(explain(error));
  process.exitCode = 1;
}

/** Lets a blank of a pattern be a line break in a paragraph or a comment. */
function acrossLines(pattern: string): string {
  return pattern.replaceAll(' ', '[\\s*]+');
}

async function filesOf(globs: string[]): Promise<string[]> {
  const files = new Set<string>();
  for await (const entry of glob(globs, { cwd: PROJECT, withFileTypes: true, exclude: ['node_modules'] }))
    if (entry.isFile()) files.add(`${entry.parentPath}/${entry.name}`.slice(PROJECT.length));
  return [...files].filter((file) => !NOT_READ.test(file)).sort();
}

/** Returns what people read in a file. Lines keep their numbers. */
function piecesOf(file: string, source: string): Piece[] {
  const whole = (text: string): Piece[] => [{ kind: 'text', text, line: 1 }];
  if (/\.[tj]s$/.test(file)) return piecesOfCode(source);
  if (file.endsWith('.md')) return whole(withoutCode(source));
  if (extname(file) === '.sql') return whole(source.replaceAll(/^((?:(?!--).)*)/gm, ''));
  return whole(source);
}

/** Blanks code blocks, code spans and the targets of links. */
function withoutCode(markdown: string): string {
  const blank = (code: string) => code.replaceAll(/[^\n]/g, '');
  return markdown
    .replaceAll(/^ *```[\s\S]*?^ *```$/gm, blank)
    .replaceAll(/`[^`]*`/g, (code) => `_${blank(code)}`)
    .replaceAll(/\]\([^)]*\)/g, blank);
}

/** Returns comments, texts and exported names of TypeScript. */
function piecesOfCode(source: string): Piece[] {
  const file = ts.createSourceFile('file.ts', source, ts.ScriptTarget.Latest, true);
  const pieces: Piece[] = [];
  const add = (kind: Kind, text: string, position: number) =>
    pieces.push({ kind, text, line: file.getLineAndCharacterOfPosition(position).line + 1 });
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return;
    if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node))
      add('text', node.text, node.getStart());
    if (isExported(node)) for (const name of namesOf(node)) add('name', wordsOf(name.text), name.getStart());
    ts.forEachChild(node, visit);
  };
  visit(file);
  for (const { 0: comment, index } of source.matchAll(/\/\*\*?[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm)) {
    add('text', comment, index);
    const [, first] = /^\/\*\*[\s*]*(.*)/.exec(comment) ?? [];
    if (first) add('docstring', first, index);
  }
  return pieces;
}

function isExported(node: ts.Node): boolean {
  return ts.canHaveModifiers(node) && !!ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
}

function namesOf(node: ts.Node): ts.Identifier[] {
  const nodes = ts.isVariableStatement(node) ? [...node.declarationList.declarations] : [node];
  return nodes.flatMap((each) => {
    const name = (each as ts.NamedDeclaration).name;
    return name && ts.isIdentifier(name) ? [name] : [];
  });
}

function wordsOf(name: string): string {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .toLowerCase();
}
