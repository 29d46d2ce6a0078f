import { describeBadInput, EACH_KIND_OF_FORM, FEW_BODIES } from '../support/bad-input/suites.ts';

await describeBadInput({ runs: 3, bodies: FEW_BODIES, forms: EACH_KIND_OF_FORM });
