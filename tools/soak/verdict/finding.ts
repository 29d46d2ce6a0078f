/** One thing that must hold, and why it does not. */
export interface Finding {
  what: string;
  /** Empty when it holds. */
  faults: string[];
}

/** Looks; what goes wrong with that is a fault as well. */
export async function finding(what: string, look: () => Promise<string[]>): Promise<Finding> {
  return { what, faults: await look().catch((error: Error) => [error.message]) };
}
