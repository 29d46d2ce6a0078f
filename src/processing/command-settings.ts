const FLAVOR = /^[^/\s*]+\/[^/\s*]+$/;
export const OUTPUT_FLAVOR = /^(\*|[^/\s*]+)\/[^/\s*]+$/;

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

/** Returns the flavor of a result for the flavor of its source; undefined when it is invalid. */
export function resultFlavor({ flavor }: CommandSettings, source: string): string | undefined {
  const made = flavor.replace(/^\*/, () => source.split('/', 1)[0] ?? source);
  return FLAVOR.test(made) ? made : undefined;
}
