/** A file that is being received. Sizes are in bytes. */
export interface Incoming {
  /** The user name of its sender. */
  account: string;
  filename: string;
  /** An upper bound; undefined when unknown. */
  expectedBytes: number | undefined;
  received: () => number;
}
