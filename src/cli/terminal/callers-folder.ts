/** Scripts of package.json with file arguments. */
const SCRIPTS = ['inlet', 'demo'];

/** Returns the caller's working folder, because npm runs scripts in the folder of the package. */
export function callersFolder({ npm_lifecycle_event: script, INIT_CWD: folder }: NodeJS.ProcessEnv): string {
  return folder && script && SCRIPTS.includes(script) ? folder : process.cwd();
}
