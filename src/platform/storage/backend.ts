import type { z } from 'zod';
import type { Endpoints } from '../outbound/endpoints.ts';
import type { ObjectStorage } from './port.ts';

/** Where objects are kept, as the environment says. */
export interface StoragePlace {
  /** What operators call it, with the variable that names it: `bucket lectures (S3_BUCKET)`. */
  name: string;
  /** The variables that decide how it is reached, in words. */
  settings: string;
  /** What clients of it connect to and read, with this environment. @throws {ConfigError} when that is unknown */
  endpoints(environment: Readonly<Record<string, string | undefined>>): Promise<Endpoints>;
  /**
   * Opens it, whether it answers at this moment or not.
   *
   * @param memoryBytes what all uploads together may hold of what is not stored yet
   */
  open(memoryBytes?: number): Promise<ObjectStorage>;
  /** The folders of this machine that it writes into, as far as they exist. */
  folders?(): AsyncIterable<string>;
  /** Says why it certainly has no object, such as `/data/objects is empty`; changes nothing. */
  vacancy?(): Promise<string | undefined>;
}

/** A kind of object storage that the environment can choose: one file, and a line in `backends.ts`. */
export interface StorageBackend<Shape extends z.ZodRawShape = z.ZodRawShape> {
  /** Its variables, beside those that its library reads by itself. */
  variables: Shape;
  /** The place that the variables name, if they name one. */
  place(values: z.infer<z.ZodObject<Shape>>): StoragePlace | undefined;
}

/** Declares a backend, whose `place` is given the values of its variables. */
export function defineBackend<Shape extends z.ZodRawShape>(backend: StorageBackend<Shape>): StorageBackend<Shape> {
  return backend;
}
