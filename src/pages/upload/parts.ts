import { createApi } from './api.browser.ts';
import { createCards } from './cards.browser.ts';
import { createChosenFiles } from './chosen-files.browser.ts';
import { createErrands } from './errands.browser.ts';
import { createEvents } from './events.browser.ts';
import { createFollower } from './follow.browser.ts';
import { createForm } from './form.browser.ts';
import { createGuesses } from './guesses.browser.ts';
import { createLane } from './lane.browser.ts';
import { createMeasure } from './measure.browser.ts';
import { createMeter } from './meter.browser.ts';
import { createQueue } from './queue.browser.ts';
import { createRecords } from './records.browser.ts';
import { createSeriesField } from './series.browser.ts';
import { createSignIn } from './sign-in.browser.ts';
import { createTransfers } from './transfer.browser.ts';
import { createWords } from './words.browser.ts';

/** What the page is put together from. Each is one function that is given all it needs, and knows no other. */
export const PARTS = {
  createApi,
  createCards,
  createChosenFiles,
  createErrands,
  createEvents,
  createFollower,
  createForm,
  createGuesses,
  createLane,
  createMeasure,
  createMeter,
  createQueue,
  createRecords,
  createSeriesField,
  createSignIn,
  createTransfers,
  createWords,
};

export type Parts = typeof PARTS;
