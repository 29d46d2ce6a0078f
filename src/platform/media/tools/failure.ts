/** How much a failure says about the next attempt. */
export interface FailureOptions {
  permanent: boolean;
  ours?: boolean;
  attempts?: number;
  stopped?: boolean;
  log?: string;
  cause?: unknown;
}

/** A media tool could not do its work. */
export class MediaFailure extends Error {
  override name = 'MediaFailure';
  /** Whether another attempt on the same file would fail as well (not media, unsupported, corrupt). */
  readonly permanent: boolean;
  /** Whether something of ours failed (the disk, the tool itself), and the file has nothing to do with it. */
  readonly ours: boolean;
  /** After so many attempts it is the file that makes it happen; undefined while any number is worth it. */
  readonly attempts: number | undefined;
  /** Whether somebody asked the tool to end, as is done to all processes of a service that ends. */
  readonly stopped: boolean;
  /** The last lines of the tool's log. */
  readonly log: string;

  /** @param message a sentence a person understands, without paths of this machine */
  constructor(message: string, options: FailureOptions) {
    super(message, { cause: options.cause });
    this.permanent = options.permanent;
    this.ours = options.ours ?? false;
    this.attempts = options.attempts;
    this.stopped = options.stopped ?? false;
    this.log = options.log ?? '';
  }
}
