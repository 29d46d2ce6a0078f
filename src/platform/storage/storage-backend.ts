import type { z } from 'zod';
import type { Endpoints } from '../outbound/endpoints.ts';
import type { ObjectStorage } from './object-storage.ts';

/** The object storage that the environment configures. */
export interface StoragePlace {
  /** A name for operators, with the variable that sets it: `bucket lectures (S3_BUCKET)`. */
  name: string;
  /** The variables that configure it, in words. */
  settings: string;
  /** Returns what its clients connect to and read in this environment. @throws {ConfigError} when that is unknown */
  endpoints(environment: Readonly<Record<string, string | undefined>>): Promise<Endpoints>;
  /** Opens the storage, even when it does not answer. `memoryBytes` is the memory for uploads. */
  open(memoryBytes?: number): Promise<ObjectStorage>;
  /** The existing folders of this machine that it writes into. */
  folders?(): AsyncIterable<string>;
  /** Returns the reason why it certainly has no object, such as `/data/objects is empty`. Changes nothing. */
  vacancy?(): Promise<string | undefined>;
}

/** A kind of object storage that the environment can choose: one file, and a line in `backends.ts`. */
export interface StorageBackend<Shape extends z.ZodRawShape = z.ZodRawShape> {
  /** Its variables, apart from those that its library reads itself. */
  variables: Shape;
  place(values: z.infer<z.ZodObject<Shape>>): StoragePlace | undefined;
}

/** Declares a backend. `place` receives the values of its variables. */
export function defineBackend<Shape extends z.ZodRawShape>(backend: StorageBackend<Shape>): StorageBackend<Shape> {
  return backend;
}
