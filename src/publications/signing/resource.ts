/** What a signature adds to an address. */
export const SIGNATURE_PARAMETERS: readonly string[] = ['policy', 'keyId', 'signature'];

/** An address without the parameters of a signature, otherwise as it was written; what follows a `#` is cut off. */
export function withoutSignature(url: string): string {
  const [address = '', query] = (url.split('#', 1)[0] ?? '').split(/\?(.*)/s, 2);
  if (query === undefined) return address;
  const kept = query.split('&').filter((pair) => !SIGNATURE_PARAMETERS.includes(pair.split('=', 1)[0] ?? ''));
  return kept.length > 0 ? `${address}?${kept.join('&')}` : address;
}

/** Whether two addresses mean the same, whatever the order of their parameters. Signatures do not count. */
export function sameResource(one: string, other: string): boolean {
  const [a, b] = [meaning(one), meaning(other)];
  return a !== undefined && a === b;
}

function meaning(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const { origin, pathname, searchParams } = new URL(text);
  const parameters = [...searchParams].filter(([name]) => !SIGNATURE_PARAMETERS.includes(name));
  return JSON.stringify([origin, pathname, parameters.map((pair) => JSON.stringify(pair)).sort()]);
}
