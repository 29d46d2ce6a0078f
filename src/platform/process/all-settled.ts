/** Waits for all: even if one fails, nothing runs in the background afterwards. @throws what the first one threw */
export async function allSettled<const T extends readonly Promise<unknown>[]>(all: T) {
  await Promise.allSettled(all);
  return Promise.all(all);
}
