import { SignedUrl, SignForm } from '../../publications/sign.schemas.ts';
import type { Endpoint } from '../endpoint.ts';
import { PUBLICATION } from '../examples.ts';

const SIGNED = `${PUBLICATION.url}?policy=eyJTdGF0ZW1lbnQiOnt9fQ&keyId=demoKeyOne&signature=717dd8f958a15c1c`;

/** Signed addresses. */
export const SECURITY: readonly Endpoint[] = [
  {
    method: 'post',
    path: '/api/security/sign',
    tag: 'Security',
    summary: 'Sign an address',
    description: 'Of a publication, or of a file of one. What cannot be signed is said with status 200, too.',
    form: {
      encoding: 'any',
      schema: SignForm,
      example: { url: PUBLICATION.url, 'valid-until': '2026-10-12T10:15:00Z' },
    },
    answers: {
      200: {
        description: 'The signed address, or why there is none.',
        body: SignedUrl,
        example: { url: SIGNED, 'valid-until': '2026-10-12T10:15:00Z' },
      },
    },
    refusals: {
      400: [
        "Query parameter 'url' is mandatory",
        "Query parameter 'valid-until' is not a valid ISO-8601 date string",
        "Query parameter 'valid-source' is not a valid IP address",
      ],
    },
  },
];
