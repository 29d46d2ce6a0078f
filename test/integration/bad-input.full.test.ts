import { WITH_FORM } from '../support/bad-input/endpoints.ts';
import { ALL_BODIES, describeBadInput } from '../support/bad-input/suites.ts';

await describeBadInput({ runs: 20, bodies: ALL_BODIES, forms: WITH_FORM });
