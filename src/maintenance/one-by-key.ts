/** Has work on one object done one after the other, whatever else is done at once: rows of two tables may name the same. */
export function oneByKey<T extends { key: string }>(
  work: (item: T) => Promise<unknown>,
): (item: T) => Promise<void> {
  const underWay = new Map<string, Promise<unknown>>();
  return async (item) => {
    for (let other = underWay.get(item.key); other; other = underWay.get(item.key)) {
      await other.catch(() => undefined);
    }
    const own = work(item);
    underWay.set(item.key, own);
    try {
      await own;
    } finally {
      underWay.delete(item.key);
    }
  };
}
