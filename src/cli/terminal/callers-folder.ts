/** Scripts of package.json that are told of files. */
const SCRIPTS = ['inlet', 'demo'];

/** The folder to which paths that a person gave are relative: npm runs scripts in the folder of the package. */
export function callersFolder({ npm_lifecycle_event: script, INIT_CWD: folder }: NodeJS.ProcessEnv): string {
  return folder && script && SCRIPTS.includes(script) ? folder : process.cwd();
}
