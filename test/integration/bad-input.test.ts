import { describeBadInput, FEW_BODIES } from '../support/bad-input/suites.ts';

await describeBadInput({ runs: 3, bodies: FEW_BODIES });
