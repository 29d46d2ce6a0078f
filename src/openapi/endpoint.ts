import type { z } from 'zod';

/** The groups of the reference, in its order. */
export const TAGS = {
  Base: 'What the API is, and which versions it speaks.',
  Info: 'Who the caller is and what it belongs to.',
  Events: 'Recordings: how they come in, what is known of them, and how far they are.',
  'Event access': 'Which role may read and change an event.',
  'Event metadata': 'The metadata catalogs of an event, field by field.',
  'Event media': 'Tracks, and what is published.',
  'Event scheduling': 'When events are recorded, and by which capture agent.',
  Series: 'What belongs together, such as the lectures of a course.',
  'Series access': 'Which role may read and change a series.',
  'Series metadata': 'The metadata catalogs of a series, field by field.',
  'Capture agents': 'What records in the rooms, and how it reports itself.',
  Workflows: 'How the processing of an event goes on.',
  'List providers': 'Values for fields with a fixed set of them.',
  Security: 'Signed addresses.',
  Health: 'For those who operate Inlet.',
} as const;

/** One operation of the API as it is declared: everything the document says about it. */
export interface Endpoint {
  method: 'get' | 'post' | 'put' | 'delete';
  /** With its parameters in braces: `/api/events/{event_id}`. */
  path: string;
  tag: keyof typeof TAGS;
  /** A few words without a full stop. */
  summary: string;
  /** What one has to know; Markdown. */
  description: string;
  /** Whether it needs no account. */
  open?: boolean;
  query?: z.ZodObject;
  headers?: z.ZodObject;
  form?: Form;
  /** What it answers to a request that it understands and grants, by status. */
  answers: Readonly<Record<number, Answer>>;
  /** Why it refuses a request, by status: the sentences it says. What every endpoint may refuse is not repeated. */
  refusals?: Readonly<Record<number, string | readonly string[]>>;
}

/** A request body. */
export interface Form {
  schema: z.ZodObject;
  /** Files need multipart; the others are read either way. */
  encoding: 'any' | 'multipart';
  /** The fields of one whole request. Files are left out. */
  example: Readonly<Record<string, string>>;
  /** What may be sent in place of the form, by media type. */
  bodies?: Readonly<Record<string, { schema: z.ZodType; example: unknown }>>;
}

export interface Answer {
  description: string;
  /** Absent for one without a body. */
  body?: z.ZodType;
  example?: unknown;
  headers?: z.ZodObject;
  /** Whether it is a file instead of JSON. */
  binary?: boolean;
  /** Whether its media type is `application/json` in every version. */
  plain?: boolean;
  /** Whether browsers get a page in its place. */
  page?: boolean;
  /** Of an answer that is text instead of JSON. */
  mediaType?: 'text/plain; charset=utf-8' | 'text/xml; charset=utf-8';
}
