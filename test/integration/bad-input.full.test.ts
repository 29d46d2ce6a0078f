import { ALL_BODIES, describeBadInput } from '../support/bad-input/suites.ts';

await describeBadInput({ runs: 10, bodies: ALL_BODIES });
