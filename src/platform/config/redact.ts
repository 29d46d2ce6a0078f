/** A URL without its password, wherever clients of databases take one from; nothing of what is no such URL. */
export function redact(value: string): string {
  if (!URL.canParse(value)) return '[redacted]';
  const parsed = new URL(value);
  if (parsed.pathname.includes('@')) return '[redacted]';
  if (parsed.password) parsed.password = 'redacted';
  if (parsed.searchParams.has('password')) parsed.searchParams.set('password', 'redacted');
  return parsed.toString();
}
