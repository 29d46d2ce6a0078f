/** Kinds of settings; each describes the allowed values. */
import { isAbsolute } from 'node:path';
import { z } from 'zod';

/** The configuration is missing or invalid. The message is one line. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

export const integer = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d+$/)
    .transform(Number)
    .refine((n) => n >= min && n <= max)
    .meta({ allowed: `a whole number from ${min} to ${max}` });

export const url = (...schemes: string[]) =>
  z
    .string()
    .refine((text) => URL.canParse(text) && schemes.includes(new URL(text).protocol.slice(0, -1)))
    .meta({ allowed: `a URL that starts with ${schemes.map((s) => `${s}://`).join(' or ')}` });

/** An address of a server, without a user and a password. */
export const serverUrl = z
  .string()
  .refine((text) => URL.canParse(text) && /^https?:\/\/[^/@]+(\/|$)/.test(new URL(text).href))
  .meta({ allowed: 'a URL that starts with http:// or https://, without a user and a password' });

/** A language tag such as `de` or `en-GB`. */
export const language = z
  .string()
  .regex(/^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$/)
  .meta({ allowed: 'a language tag such as de or en-GB' });

/** Without a password, which fetch rejects. */
export const urlOrFile = z
  .string()
  .refine((text) => isAbsolute(text) || (URL.canParse(text) && /^https?:\/\/[^/@]+(\/|$)/.test(new URL(text).href)))
  .meta({ allowed: 'a URL that starts with https:// or http://, without a password, or an absolute path' });

/** As browsers write them: `https://media.example.org`, in lower case, without a path. */
export const origins = z
  .string()
  .transform((text) => text.split(',').map((origin) => origin.trim()))
  .refine((list) => list.every((text) => /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text))
  .meta({
    allowed: 'origins as browsers write them, such as https://media.example.org, separated by commas',
  });

/** A host, and its port unless it is the default of the scheme. */
export interface NamedHost {
  /** As in URLs: lower case, IPv6 in brackets. */
  host: string;
  port: number | undefined;
}

/** Entries separated by commas. @param parse returns the values of an entry, undefined for a wrong one */
export const listOf = <T>(parse: (entry: string) => (T | undefined)[], allowed: string) =>
  z
    .string()
    .transform((text) => text.split(',').flatMap((entry) => parse(entry.trim())))
    .refine((list) => !list.includes(undefined))
    .transform((list) => list.filter((value) => value !== undefined))
    .meta({ allowed });

/** Parses `media.example.org`, `media.example.org:8080`, `10.1.2.3` and `[2001:db8::1]:443`. */
export const namedHosts = listOf(
  (entry) => [namedHost(entry)],
  'hosts, or hosts and ports such as media.example.org:8080, separated by commas',
);

function namedHost(text: string): NamedHost | undefined {
  const [, name, port] = /^(\[[^\]]+\]|[^\s:/?#@[\]\\*%]+?)(?::(\d{1,5}))?$/.exec(text) ?? [];
  if (!name || !URL.canParse(`http://${text}`)) return undefined;
  const host = new URL(`http://${name}`).hostname.replace(/\.$/, '');
  return host ? { host, port: port ? Number(port) : undefined } : undefined;
}

export const flag = z
  .enum(['true', 'false'])
  .transform((text) => text === 'true')
  .meta({ allowed: 'true or false' });

export const choice = <T extends readonly [string, ...string[]]>(...values: T) =>
  z.enum(values).meta({ allowed: `one of ${values.join(', ')}` });

export const absolutePath = z.string().refine(isAbsolute).meta({ allowed: 'an absolute path' });

export const text = z.string().min(1).meta({ allowed: 'a non-empty text' });

/** Describes the allowed values of a field. */
export function describeAllowed(field: z.ZodType): string {
  const meta = field.meta()?.allowed;
  if (typeof meta === 'string') return meta;
  const inner = field instanceof z.ZodDefault || field instanceof z.ZodOptional ? field.unwrap() : undefined;
  return inner ? describeAllowed(inner as z.ZodType) : 'another value';
}
