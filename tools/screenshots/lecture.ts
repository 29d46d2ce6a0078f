import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Browser } from 'playwright-core';

const FONT = 'font-family: system-ui, sans-serif; box-sizing: border-box; margin: 0;';

/** The slides of the lecture, one after the other. */
const SLIDES = [
  ['Fourier series', 'Lecture 1', 'Every periodic signal is a sum of sines and cosines.'],
  ['Square wave', 'Odd harmonics only', 'f(t) = 4/π · (sin t + ⅓ sin 3t + ⅕ sin 5t + …)'],
].map(
  ([
    title,
    subtitle,
    text,
  ]) => `<body style="${FONT} width: 1280px; height: 720px; padding: 90px 100px; background: #fdfcf8; color: #1d2b3a">
<p style="font-size: 34px; color: #52708c; margin: 0">${subtitle}</p><h1 style="font-size: 92px; margin: 18px 0 60px">${title}</h1>
<p style="font-size: 42px; margin: 0">${text}</p>
<svg width="1080" height="190" viewBox="0 0 1080 190" style="margin-top: 50px"><path d="M0 95 ${wave()}" fill="none" stroke="#c2572e" stroke-width="6"/></svg>`,
);

/** The speaker in front of the blackboard. */
const SPEAKER = `<body style="${FONT} width: 1280px; height: 720px"><svg width="1280" height="720">
<rect width="1280" height="720" fill="#3b4a54"/><rect x="90" y="70" width="760" height="400" rx="8" fill="#24413a" stroke="#8a6b48" stroke-width="14"/>
<path d="M150 270 ${wave(600 / 1080, 150, 270)}" fill="none" stroke="#e8efe9" stroke-width="5"/>
<circle cx="985" cy="255" r="78" fill="#d9a886"/><path d="M905 240a80 80 0 0 1 160 0q-80-50-160 0z" fill="#4a3326"/>
<path d="M850 720q0-330 135-360q135 30 135 360z" fill="#6d3f5b"/><rect x="640" y="520" width="300" height="200" fill="#8a6b48"/></svg>`;

/** Films a lecture with a speaker and slides. Returns the paths of both, in this order. */
export async function filmLecture(browser: Browser, folder: string, seconds: number): Promise<string[]> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 720 } });
  const picture = async (name: string, html: string) => {
    const path = join(folder, name);
    await page.setContent(html);
    await page.screenshot({ path });
    return path;
  };
  const slides: string[] = [];
  for (const [i, html] of SLIDES.entries()) slides.push(await picture(`slide-${i}.png`, html));
  const speaker = await picture('speaker.png', SPEAKER);
  await page.close();
  const [presenter, presentation] = [join(folder, 'Fourier series.mp4'), join(folder, 'slides.mp4')];
  const each = String(seconds / slides.length);
  const sound = ['-f', 'lavfi', '-t', String(seconds), '-i', 'sine=frequency=220'];
  const stills = (paths: string[], length: string) =>
    paths.flatMap((path) => ['-loop', '1', '-framerate', '25', '-t', length, '-i', path]);
  const encoding = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p'];
  await ffmpeg(...stills([speaker], String(seconds)), ...sound, ...encoding, '-shortest', presenter);
  const concat = `${slides.map((_, i) => `[${i}:v]`).join('')}concat=n=${slides.length}[v]`;
  await ffmpeg(...stills(slides, each), '-filter_complex', concat, '-map', '[v]', ...encoding, presentation);
  return [presenter, presentation];
}

async function ffmpeg(...options: string[]): Promise<void> {
  await promisify(execFile)('ffmpeg', ['-v', 'error', '-y', ...options]);
}

/** A square wave made of three sines, as the path of a drawing. */
function wave(scale = 1, left = 0, middle = 95): string {
  return Array.from({ length: 181 }, (_, i) => {
    const t = (i / 180) * 6 * Math.PI;
    const y = Math.sin(t) + Math.sin(3 * t) / 3 + Math.sin(5 * t) / 5;
    return `L${(left + i * 6 * scale).toFixed(1)} ${(middle - y * 80 * scale).toFixed(1)}`;
  }).join(' ');
}
