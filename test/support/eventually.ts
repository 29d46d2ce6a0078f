/** Repeats an assertion until it holds, for at most so many milliseconds. */
export async function eventually(
  assertion: () => void | Promise<void>,
  timeoutMs = 20_000,
  pauseMs = 50,
): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    try {
      await assertion();
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
}
