/** What is told of a file while its bytes come in. Sizes in bytes. */
export interface Incoming {
  /** The user name of whoever sends it. */
  account: string;
  filename: string;
  /** At most so many; undefined when nobody has said. */
  expectedBytes: number | undefined;
  /** How many have come. */
  received: () => number;
}
