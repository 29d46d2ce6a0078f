import { inject } from 'vitest';
import { COST } from '#access/accounts/secrets.ts';

// Processes that tests start inherit where the media tools and the caches are.
Object.assign(process.env, inject('environment'));
// Guessing what tests sign in with may be cheap. The product's cost would be a third of the time of all tests.
Object.assign(COST, { N: 2, r: 1, p: 1 });
