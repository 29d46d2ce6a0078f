import { OUTPUT_FLAVOR, parseCommandSettings } from './command-settings.ts';
import type { OperationCheck } from './load-definitions.ts';
import { PAUSE } from './workflow-definition.ts';

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
