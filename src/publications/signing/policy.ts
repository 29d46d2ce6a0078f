import { z } from 'zod';

/** The permission that a signature gives: one address, an end, and optionally a beginning and a client. */
export interface Policy {
  resource: string;
  /** Milliseconds since 1970, like all times here. */
  validUntil: number;
  validFrom?: number | undefined;
  /** The only IP address that may use it. */
  source?: string | undefined;
}

const Document = z.object({
  Statement: z.object({
    Condition: z.object({
      DateGreaterThan: z.number().optional(),
      DateLessThan: z.number(),
      IpAddress: z.string().optional(),
    }),
    Resource: z.string(),
  }),
});

/** Returns the text to sign, byte for byte as other implementations of the format write it. */
export function policyText({ resource, validUntil, validFrom, source }: Policy): string {
  const Condition = {
    ...(validFrom !== undefined && { DateGreaterThan: validFrom }),
    DateLessThan: validUntil,
    ...(source !== undefined && { IpAddress: source }),
  };
  return JSON.stringify({ Statement: { Condition, Resource: resource } }).replaceAll('/', '\\/');
}

/** Parses a policy; undefined for any other text. */
export function parsePolicy(text: string): Policy | undefined {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return undefined;
  }
  const parsed = Document.safeParse(json);
  if (!parsed.success) return undefined;
  const { Condition, Resource } = parsed.data.Statement;
  return {
    resource: Resource,
    validUntil: Condition.DateLessThan,
    validFrom: Condition.DateGreaterThan,
    source: Condition.IpAddress,
  };
}
