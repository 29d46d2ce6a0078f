import type { VideoStream } from './streams.ts';

/** Width and height in pixels. */
export interface Size {
  width: number;
  height: number;
}

/** The size that fits into a box with the picture's proportions, never enlarged, with even sides. */
export function fitInto(video: VideoStream, box: Size): Size {
  const shown = { width: video.width * video.pixelAspect, height: video.height };
  const factor = Math.min(1, box.width / shown.width, box.height / shown.height);
  return { width: even(shown.width * factor), height: even(shown.height * factor) };
}

function even(length: number): number {
  return Math.max(2, Math.round(length / 2) * 2);
}

/** Filters that bring a picture to a size with square pixels and without interlacing. */
export function pictureFilters(video: VideoStream, { width, height }: Size): string[] {
  const deinterlace = video.interlaced ? ['yadif=deint=interlaced'] : [];
  return [...deinterlace, `scale=${width}:${height}`, 'setsar=1'];
}
