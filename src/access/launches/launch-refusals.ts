import { refusal } from '#platform/http/errors/errors.ts';

export const UNVERIFIED_LAUNCH = refusal(
  401,
  (fault: string) => `The launch is not accepted: ${fault}. Start it again in your course.`,
  ['its signature is wrong'],
);
export const REPEATED_LAUNCH = refusal(401, 'The launch was used before. Start it again in your course.');
export const EXPIRED_LAUNCH = refusal(
  401,
  'The launch is too old, or the clocks of the learning platform and this server differ. Start it again in your course.',
);
export const INVALID_LAUNCH = refusal(400, (fault: string) => `The launch is not valid: ${fault}.`, [
  "'user_id' is missing",
]);
export const LAUNCH_KEYS_UNAVAILABLE = refusal(
  503,
  'The keys of the learning platform are not available. Try again later.',
  [],
  { 'Retry-After': '10' },
);
export const INSTRUCTORS_ONLY = refusal(403, 'Only instructors of a course may choose recordings for it.');
