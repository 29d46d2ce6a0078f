import { CommandError } from './failure.ts';
import { generateDocument } from './generate/document.ts';
import { generateSchema } from './generate/schema.ts';

/**
 * `npm run generate`: writes the files that are made of others, the types of the database and the OpenAPI document.
 * With `--verify` it changes nothing and fails when one would differ.
 */
export async function generateCommand(project: string, args: string[]): Promise<void> {
  const verify = args.includes('--verify');
  const unknown = args.find((argument) => argument !== '--verify');
  if (unknown) throw new CommandError(`${unknown} is not understood; allowed is --verify.`);
  await generateDocument(project, verify);
  await generateSchema(project, verify);
}
