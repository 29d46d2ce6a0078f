import type { OperationCheck } from './load-definitions.ts';
import { PAUSE } from './workflow-definition.ts';

const FLAVOR = /^[^/\s*]+\/[^/\s*]+$/;
const OUTPUT_FLAVOR = /^(\*|[^/\s*]+)\/[^/\s*]+$/;

/** The configuration of an operation that runs a program of the site. */
export interface CommandSettings {
  program: string;
  /** With placeholders, separated by blanks. */
  arguments: string;
  /** Flavors of the tracks to process; undefined for all that clients sent. */
  tracks: string | undefined;
  /** Flavor of the results; an asterisk stands for the type of the source track. */
  flavor: string;
  tags: string[];
}

export function parseCommandSettings(configuration: Readonly<Record<string, string>>): CommandSettings {
  const { program = '', tracks, output_flavor = '*/processed', output_tags = '' } = configuration;
  return {
    program,
    arguments: configuration.arguments ?? '{input} {output}',
    tracks,
    flavor: output_flavor,
    tags: output_tags
      .split(',')
      .map((tag) => tag.trim())
      .filter(Boolean),
  };
}

/** Identifies the results of a `command`: another one may run the same program on other tracks. */
export function commandIdentity({ program, tracks = '', flavor, tags }: CommandSettings): string {
  return ['command', program, tracks, flavor, ...tags].join(' ');
}

/** Returns a check for operations, given those that workers support and the programs of the site. */
export function operationCheck(
  operations: ReadonlySet<string>,
  programs: { has(name: string): boolean },
): OperationCheck {
  return ({ operation, configuration }) => {
    if (operation !== PAUSE && !operations.has(operation)) {
      const known = [PAUSE, ...operations].sort().join(', ');
      return { path: ['operation'], message: `unknown operation "${operation}"; allowed are ${known}` };
    }
    if (operation !== 'command') return undefined;
    const { program, flavor } = parseCommandSettings(configuration);
    if (!programs.has(program)) {
      const message = `COMMANDS_DIR has no executable file ${JSON.stringify(program)}`;
      return { path: ['configuration', 'program'], message };
    }
    if (OUTPUT_FLAVOR.test(flavor)) return undefined;
    const message = `the output_flavor ${JSON.stringify(flavor)} must have the form type/subtype`;
    return { path: ['configuration', 'output_flavor'], message };
  };
}

/** Returns the flavor of a result for the flavor of its source; undefined when it is invalid. */
export function resultFlavor({ flavor }: CommandSettings, source: string): string | undefined {
  const made = flavor.replace(/^\*/, () => source.split('/', 1)[0] ?? source);
  return FLAVOR.test(made) ? made : undefined;
}
