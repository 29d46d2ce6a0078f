import { z } from 'zod';

type Test = (configuration: Readonly<Record<string, string>>) => boolean;

interface Condition {
  source: string;
  /** The configuration keys that it reads. */
  keys: string[];
  test: Test;
}

const TOKEN = /\s*(&&|\|\||!|\(|\)|[A-Za-z_][A-Za-z0-9_.-]*)\s*/y;

/**
 * Compiles the `if` of an operation: configuration keys joined by `&&`, `||`, `!` and parentheses. A key is true when
 * its value is the word `true`, in any case of letters. @throws {SyntaxError}
 */
export function compileCondition(source: string): Condition {
  const tokens = tokenize(source);
  const keys: string[] = [];
  let next = 0;

  const chain = (operator: '&&' | '||', operand: () => Test): Test => {
    const tests = [operand()];
    for (; tokens[next] === operator; tests.push(operand())) next += 1;
    if (operator === '&&') return (configuration) => tests.every((test) => test(configuration));
    return (configuration) => tests.some((test) => test(configuration));
  };
  const both = () => chain('&&', single);
  const either = () => chain('||', both);
  const single = (): Test => {
    const token = tokens[next++];
    if (token === '!') {
      const inner = single();
      return (configuration) => !inner(configuration);
    }
    if (token === '(') {
      const inner = either();
      if (tokens[next++] !== ')') throw new SyntaxError(`Missing closing parenthesis in "${source}".`);
      return inner;
    }
    if (token === undefined || !/^[A-Za-z_]/.test(token)) {
      throw new SyntaxError(
        `Expected a configuration key ${token ? `instead of "${token}"` : 'at the end'} in "${source}".`,
      );
    }
    keys.push(token);
    return (configuration) => configuration[token]?.trim().toLowerCase() === 'true';
  };

  const test = either();
  if (next < tokens.length) throw new SyntaxError(`Unexpected "${tokens[next]}" in "${source}".`);
  return { source, test, keys };
}

function tokenize(source: string): string[] {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < source.length) {
    const at = TOKEN.lastIndex;
    const match = TOKEN.exec(source);
    if (!match?.[1]) throw new SyntaxError(`Unexpected "${source.slice(at, at + 10)}" in "${source}".`);
    tokens.push(match[1]);
  }
  return tokens;
}

/** An operation that `advance()` carries out itself, without a worker. */
export const PAUSE = 'pause';

const UNIT_MS = { s: 1000, m: 60_000, h: 3_600_000 } as const;

const identifier = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/, {
  error: 'must start with a letter or digit and hold only letters, digits, ".", "_" and "-"',
});

const duration = z
  .string()
  .regex(/^[1-9]\d{0,5}[smh]$/, { error: 'must be a number and a unit, such as 30s, 10m or 6h' })
  .transform((text) => Number.parseInt(text, 10) * UNIT_MS[text.slice(-1) as keyof typeof UNIT_MS]);

/** Values are strings in the contract; a definition may write `true` or `5` without quotes. */
const scalar = z.union([z.string(), z.number(), z.boolean()]).transform(String);

const condition = z.string().transform((source, context) => {
  try {
    return compileCondition(source);
  } catch (error) {
    context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : 'is not a valid condition' });
    return z.NEVER;
  }
});

const OperationSchema = z.strictObject({
  operation: identifier,
  description: z.string().default(''),
  if: condition.optional(),
  /** Further attempts after a transient error. */
  retries: z.number().int().min(0).max(50).default(8),
  time_limit: duration.default(6 * UNIT_MS.h),
  /** True if the workflow continues after the operation has failed for good. */
  optional: z.boolean().default(false),
  configuration: z.record(identifier, scalar).default({}),
});

export const DefinitionSchema = z
  .strictObject({
    id: identifier,
    aliases: z.array(identifier).default([]),
    title: z.string().min(1),
    description: z.string().default(''),
    tags: z.array(z.string().min(1)).default([]),
    /** Its position among all definitions; a higher value comes first. */
    display_order: z.number().int().default(0),
    /** HTML that clients show where the configuration is chosen. */
    configuration_panel: z.string().default(''),
    /** The same as data, which is served as JSON. */
    configuration_panel_json: z
      .json()
      .default('')
      .transform((panel) => (typeof panel === 'string' ? panel : JSON.stringify(panel))),
    configuration: z.record(identifier, scalar).default({}),
    operations: z.array(OperationSchema).min(1),
    /** Run in this order when an operation has failed for good. */
    on_failure: z.array(OperationSchema).default([]),
  })
  .superRefine((definition, context) => {
    for (const list of ['operations', 'on_failure'] as const) {
      definition[list].forEach((operation, index) => {
        for (const key of operation.if?.keys ?? []) {
          if (key in definition.configuration) continue;
          context.addIssue({
            code: 'custom',
            path: [list, index, 'if'],
            message: `reads the configuration key "${key}", which has no default under "configuration"`,
          });
        }
        if (list === 'operations' || operation.operation !== PAUSE) return;
        const message = 'must not be a pause: a failed workflow does not wait';
        context.addIssue({ code: 'custom', path: [list, index, 'operation'], message });
      });
    }
  });

/** A workflow definition; durations in milliseconds. */
export type WorkflowDefinition = z.infer<typeof DefinitionSchema>;
export type OperationDefinition = z.infer<typeof OperationSchema>;
