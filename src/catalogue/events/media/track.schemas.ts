import { z } from 'zod';
import { TRACK_FIELDS } from '../versions.ts';

const number = z.number().optional();

const Stream = z
  .object({
    identifier: z.string(),
    format: z.string().optional().describe('The codec.'),
    bitrate: number.describe('In bits a second.'),
    framecount: z.int().optional(),
    framerate: number,
    framewidth: z.int().optional(),
    frameheight: z.int().optional(),
    scantype: z.enum(['Interlaced', 'Progressive']).optional(),
    channels: z.int().optional(),
    samplingrate: z.int().optional().describe('In Hertz.'),
    bitdepth: z.int().optional(),
  })
  .meta({ id: 'TrackStream' });
export type StreamJson = z.infer<typeof Stream>;

/** A file that a client sent. What is not known of it is left out. */
const Track = z
  .object({
    identifier: z.string(),
    flavor: z.string(),
    mimetype: z.string(),
    size: z.int().describe('In bytes.'),
    checksum: z.string().optional(),
    duration: z.int().optional().describe('In milliseconds.'),
    has_audio: z.boolean().optional(),
    has_video: z.boolean().optional(),
    is_master_playlist: z.boolean(),
    is_live: z.boolean(),
    tags: z.array(z.string()),
    uri: z.url().describe('Where the file is, for those who may see the media of the event.'),
    warnings: z
      .array(z.string())
      .optional()
      .describe(
        'An addition of Inlet: sentences about what may be wrong with it, such as that it seems to be cut off. It is ' +
          'published all the same.',
      ),
    streams: z.record(z.string(), Stream).describe('By `video-1`, `audio-1` and so on.'),
  })
  .meta({ id: 'Track', 'x-introduced': TRACK_FIELDS });
export type TrackJson = z.infer<typeof Track>;

export const Tracks = z.array(Track).meta({ id: 'Tracks' });
