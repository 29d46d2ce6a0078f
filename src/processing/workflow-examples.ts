/** Identifier of the event in the examples of the reference document. */
export const EVENT_ID = '0f5f3c9e-7b52-4d55-8a4e-3a1c5f0e6d21';

export const WORKFLOW = {
  identifier: 42,
  title: 'Process upon upload',
  description: '',
  workflow_definition_identifier: 'schedule-and-upload',
  event_identifier: EVENT_ID,
  creator: 'video-team',
  state: 'paused',
};

export const DEFINITION = {
  identifier: 'publish',
  title: 'Publish',
  description: 'Encodes the recording again and publishes it, or replaces its publications.',
  tags: ['archive'],
};
