import { z } from 'zod';

/** What a signature allows: one address, until when, and perhaps from when and for whom. */
export interface Policy {
  resource: string;
  /** Milliseconds since 1970, as all times here. */
  validUntil: number;
  validFrom?: number | undefined;
  /** The only IP address that may ask. */
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

/** The text that is signed: byte for byte what other implementations of the format write. */
export function policyText({ resource, validUntil, validFrom, source }: Policy): string {
  const Condition = {
    ...(validFrom !== undefined && { DateGreaterThan: validFrom }),
    DateLessThan: validUntil,
    ...(source !== undefined && { IpAddress: source }),
  };
  return JSON.stringify({ Statement: { Condition, Resource: resource } }).replaceAll('/', '\\/');
}

/** The policy a text describes; undefined when it describes none. */
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
