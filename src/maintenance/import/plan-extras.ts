import type { EventExtras } from './inlet-extras.schemas.ts';
import type { EventPlan, PlannedSchedule } from './plan-event.ts';
import type { PlannedElement, PlannedTrack } from './plan-files.ts';
import { fileOf } from './planned-file.ts';

/** Adds the facts of an exported folder that the External API does not have. */
export function withExtras(plan: EventPlan, extras: EventExtras | undefined): EventPlan {
  if (!extras) return plan;
  const tracks = new Map(extras.tracks.map((track) => [track.id, track]));
  const elements = new Map(extras.elements.map((element) => [element.id, element]));
  const indexes = new Map(
    extras.tracks.map(({ id, position }) => [position, plan.tracks.findIndex((each) => each.id === id)]),
  );
  const indexOf = (position: number | null) => (position === null ? null : (indexes.get(position) ?? null));
  const publishedAt = new Map(extras.publications.map(({ id, published_at }) => [id, new Date(published_at)]));
  const catalogs = Object.entries(extras.catalogs).map(
    ([flavor, values]) => [flavor, new Map(Object.entries(values))] as const,
  );
  return {
    ...plan,
    columns: { ...plan.columns, created: new Date(extras.created), start_date: new Date(extras.start) },
    catalogs: new Map(catalogs),
    ownAcl: extras.own_acl,
    schedule: plan.schedule && extras.schedule ? scheduleWith(plan.schedule, extras.schedule) : plan.schedule,
    tracks: plan.tracks.map((track) => trackWith(track, tracks.get(track.id))),
    publications: plan.publications.map((publication) => ({
      ...publication,
      publishedAt: publishedAt.get(publication.id),
      elements: publication.elements.map((element) => {
        const known = elements.get(element.id);
        return known ? { ...elementWith(element, known), track: indexOf(known.track) } : element;
      }),
    })),
    attachments: extras.attachments.map((file) => ({
      ...fileOf({ ...file, checksum: `${file.sha256} (sha256)` }, file.id),
      filename: file.filename,
      trackId: file.track_id,
    })),
    documents: extras.documents,
  };
}

function scheduleWith(schedule: PlannedSchedule, extras: NonNullable<EventExtras['schedule']>): PlannedSchedule {
  const { workflow, configuration, recording_state } = extras;
  const recordingState = recording_state as PlannedSchedule['recordingState'];
  return { ...schedule, processing: { workflow, configuration }, recordingState };
}

function trackWith(track: PlannedTrack, known: EventExtras['tracks'][number] | undefined): PlannedTrack {
  if (!known) return track;
  const { made_by: madeBy, hidden_streams: hiddenStreams, kept_parts: keptParts, filename } = known;
  return { ...track, filename, streams: known.streams as PlannedTrack['streams'], madeBy, hiddenStreams, keptParts };
}

function elementWith(element: PlannedElement, known: EventExtras['elements'][number]): PlannedElement {
  const { position, filename, properties, duration, width, height } = known;
  return {
    ...element,
    ...{ position, filename, properties, duration, width, height },
    hasAudio: known.has_audio,
    hasVideo: known.has_video,
    frameRate: known.frame_rate,
    frameCount: known.frame_count,
    bitRate: known.bit_rate,
  };
}
