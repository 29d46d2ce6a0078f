import type { FaultOf } from './definitions.ts';

const FLAVOR = /^[^/\s*]+\/[^/\s*]+$/;
const OUTPUT_FLAVOR = /^(\*|[^/\s*]+)\/[^/\s*]+$/;

/** What a workflow definition says of a program of the site. */
export interface CommandSettings {
  program: string;
  /** With placeholders, separated by blanks. */
  arguments: string;
  /** Flavors of the tracks that it works on; undefined for all that clients sent. */
  tracks: string | undefined;
  /** Flavor of the results; an asterisk is the type of the track that one is made of. */
  flavor: string;
  tags: string[];
}

export function commandSettings(configuration: Readonly<Record<string, string>>): CommandSettings {
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

/** By what a `command` knows again what it made: another one may run the same program on other tracks. */
export function commandMaker({ program, tracks = '', flavor, tags }: CommandSettings): string {
  return ['command', program, tracks, flavor, ...tags].join(' ');
}

/** Tells what would hinder a `command`, given the names of the site's programs. */
export function commandFault(programs: { has(name: string): boolean }): FaultOf {
  return ({ operation, configuration }) => {
    if (operation !== 'command') return undefined;
    const { program, flavor } = commandSettings(configuration);
    if (!programs.has(program)) {
      const message = `there is no executable file ${JSON.stringify(program)} in COMMANDS_DIR`;
      return { key: 'program', message };
    }
    if (OUTPUT_FLAVOR.test(flavor)) return undefined;
    const message = `the output_flavor ${JSON.stringify(flavor)} is none; allowed is type/subtype`;
    return { key: 'output_flavor', message };
  };
}

/** @returns the flavor of what is made of a track of another, or undefined for one that is none */
export function resultFlavor({ flavor }: CommandSettings, source: string): string | undefined {
  const made = flavor.replace(/^\*/, () => source.split('/', 1)[0] ?? source);
  return FLAVOR.test(made) ? made : undefined;
}
