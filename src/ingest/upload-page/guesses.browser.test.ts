import { expect, test } from 'vitest';
import { createGuesses } from './guesses.browser.ts';

const { fields, title } = createGuesses();

test.each([
  [['lecture.mp4'], ['presenter']],
  [['lecture_slides.mp4'], ['presentation']],
  [
    ['a.mp4', 'b.mp4'],
    ['presenter', 'presentation'],
  ],
  [
    ['2026 slides.mp4', '2026 camera.mp4'],
    ['presentation', 'presenter'],
  ],
  [
    ['x-screen.mp4', 'x.mp4'],
    ['presentation', 'presenter'],
  ],
  [
    ['x.mp4', 'x-CAMERA.mp4'],
    ['presentation', 'presenter'],
  ],
  [
    ['x-slides-1.mp4', 'x-slides-2.mp4'],
    ['presenter', 'presentation'],
  ],
  // A word that only holds another.
  [
    ['camembert.mp4', 'cam.mp4'],
    ['presentation', 'presenter'],
  ],
])('%j come as %j', (names, expected) => {
  expect(fields(names)).toEqual(expected);
});

test.each([
  [['Analysis_I-lecture-01.mp4'], 'Analysis I lecture 01'],
  [['Analysis I 2026-11-20 camera.mp4', 'Analysis I 2026-11-20 slides.mp4'], 'Analysis I 2026-11-20'],
  [['Übung.3.presenter.mkv'], 'Übung.3'],
  [['camera.mp4', 'Optics.mp4'], 'Optics'],
  [['camera.mp4'], ''],
  [['First person shooters.webm'], 'First person shooters'],
  [[], ''],
])('%j are called "%s"', (names, expected) => {
  expect(title(names)).toBe(expected);
});
