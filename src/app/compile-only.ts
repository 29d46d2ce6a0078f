/** The argument of a process that compiles a role without starting it. */
export const COMPILE_ONLY = '--compile-only';

/** Compiles what a role loads after its start, in this thread or another. */
export async function compileRest(): Promise<void> {
  await Promise.all([
    import('#platform/storage/s3.ts'),
    import('#platform/storage/s3-client.ts'),
    import('#platform/storage/thread/storage-thread.worker.ts'),
  ]);
}
