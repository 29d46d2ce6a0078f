/** Paths of the media tools this process may run. */
export interface MediaTools {
  ffmpeg: string;
  ffprobe: string;
}
