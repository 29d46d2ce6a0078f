/** Repeats an assertion until it holds, for at most so many milliseconds. @returns what it returns */
export async function eventually<T>(assertion: () => T | Promise<T>, timeoutMs = 20_000, pauseMs = 50): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    try {
      return await assertion();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
}
