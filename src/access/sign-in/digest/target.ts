/** What tells parts of an address apart, and is another address when it is encoded. */
const DELIMITERS = new Set([...'/?#%&=+;']);

/**
 * Whether the `uri` of a digest is what was asked for: its path and query. Whatever host it names, and whatever it writes
 * in another way: proxies may have changed both.
 *
 * @param url what was asked for
 * @param prefix of the addresses as clients know them, where a proxy takes it off; without a slash at its end
 */
export function isTarget(uri: string, url: string, prefix: string): boolean {
  const [said, asked] = [pathAndQuery(uri), pathAndQuery(url)];
  return said !== undefined && asked !== undefined && (said === asked || said === prefix + asked);
}

function pathAndQuery(text: string): string | undefined {
  const whole = text.startsWith('/') ? `http://host${text}` : text;
  if (!/^https?:/i.test(whole) || !URL.canParse(whole)) return undefined;
  const { pathname, search } = new URL(whole);
  return `${pathname}${search}`.replace(/%([\da-f]{2})/gi, (encoded, code) => {
    const character = String.fromCharCode(Number.parseInt(code, 16));
    return DELIMITERS.has(character) ? encoded.toUpperCase() : character;
  });
}
