import { z } from 'zod';
import { API_VERSIONS } from '#platform/http/answer/version.ts';

const Version = z.enum(API_VERSIONS.map((version) => `v${version}` as const));

/** Where the API is and its newest version. */
export const ApiInfo = z
  .object({ url: z.url().describe('Address of the API.'), version: Version.describe('The newest version.') })
  .meta({ id: 'ApiInfo' });

/** Every version the API speaks, oldest first. */
export const ApiVersions = z
  .object({ versions: z.array(Version), default: Version })
  .meta({ id: 'ApiVersions' });

/** The version of answers to requests that ask for none. */
export const DefaultVersion = z.object({ default: Version }).meta({ id: 'DefaultVersion' });
