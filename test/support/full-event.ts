/** The columns of an event that has a value in every field. */
export const FULL_EVENT = {
  title: 'Lecture 1',
  description: 'Two\nlines',
  subjects: ['Maths', 'Logic, formal'],
  language: 'deu',
  rights_holder: 'The university',
  license: 'CC-BY',
  presenters: ['Ada L.', 'Charles B.'],
  contributors: ['Grace H.'],
  location: 'Hall 1',
  source: 'Camera',
  publisher: 'Press',
  start_date: new Date('2026-04-13T08:15:42.123Z'),
  created: new Date('2026-04-13T08:15:42Z'),
  duration: 5_400_500,
};
