/** Sends the requests of the Opencast editor, and uses what its pages use of the browser. */
const id = new URLSearchParams(location.search).get('id');
const base = `${location.origin}/editor/${id}`;
const root = /** @type {HTMLElement} */ (document.getElementById('root'));

/** Its client writes every body as JSON, forms as well. */
async function ask(/** @type {string} */ url, /** @type {string} */ method, /** @type {unknown} */ body, headers = {}) {
  const sent = { 'Content-Type': 'application/json', ...headers };
  const answer = await fetch(url, { method, headers: sent, ...(body ? { body: JSON.stringify(body) } : {}) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(answer.statusText);
  return text;
}

async function settings() {
  const answer = await fetch(`${location.origin}/ui/config/editor/editor-settings.toml`);
  const isHtml = answer.headers.get('Content-Type')?.startsWith('text/html');
  const found = isHtml ? [] : (await answer.text()).matchAll(/languages\.(\w+)\]\s+lang = "(\w+)"/g);
  return Object.fromEntries([...found].map(([, name, lang]) => [name, lang]));
}

/** Takes a picture of a player that shows captions from memory. */
async function frame(/** @type {string} */ url, /** @type {string} */ captions) {
  const video = document.createElement('video');
  const track = document.createElement('track');
  Object.assign(track, { kind: 'subtitles', default: true });
  track.src = URL.createObjectURL(new Blob([captions], { type: 'text/vtt' }));
  Object.assign(video, { crossOrigin: 'anonymous', muted: true, src: url });
  const loaded = new Promise((resolve) => track.addEventListener('load', resolve));
  video.append(track);
  root.append(video);
  await new Promise((resolve, reject) => {
    video.addEventListener('seeked', resolve);
    video.addEventListener('error', () => reject(new Error('The video does not load.')));
    video.currentTime = 3;
  });
  await loaded;
  const canvas = document.createElement('canvas');
  Object.assign(canvas, { width: video.videoWidth, height: video.videoHeight });
  canvas.getContext('2d')?.drawImage(video, 0, 0);
  return canvas.toDataURL('image/png');
}

async function picture(/** @type {string} */ url) {
  const image = new Image();
  image.src = url;
  await image.decode();
  return image.naturalWidth > 0;
}

/** As it does without a waveform. */
async function decodedSeconds(/** @type {string} */ url) {
  const blob = await (await fetch(url)).blob();
  const sound = await new OfflineAudioContext(1, 8000, 8000).decodeAudioData(await blob.arrayBuffer());
  return Math.round(sound.duration);
}

function worker() {
  const script = URL.createObjectURL(new Blob(["postMessage('ready')"], { type: 'text/javascript' }));
  return new Promise((resolve) => new Worker(script).addEventListener('message', ({ data }) => resolve(data)));
}

/** Its styles are written at run time. */
function style() {
  document.head.append(document.createElement('style'));
  const sheet = /** @type {CSSStyleSheet} */ ([...document.styleSheets].at(-1));
  sheet.insertRule('#root { color: rgb(1, 2, 3); }');
  return getComputedStyle(root).color;
}

function show(/** @type {string} */ state, seen = {}) {
  const output = document.createElement('output');
  output.textContent = state;
  output.dataset.seen = JSON.stringify(seen);
  root.replaceChildren(output, ...root.querySelectorAll('button'));
}

function button(/** @type {string} */ text, /** @type {() => Promise<void>} */ act) {
  const element = document.createElement('button');
  element.textContent = text;
  element.addEventListener('click', () => act().catch((error) => show(`${text}: ${error.message}`)));
  root.append(element);
}

async function run() {
  const edited = JSON.parse(await ask(`${base}/edit.json`, 'GET', undefined));
  const form = { 'Content-Type': 'application/x-www-form-urlencoded;charset=UTF-8' };
  const lock = { user: edited.lock_user, uuid: edited.lock_uuid };
  try {
    await ask(`${base}/lock`, 'POST', `user=${lock.user}&uuid=${lock.uuid}`, form);
  } catch (error) {
    return show(`Locked: ${/** @type {Error} */ (error).message}`);
  }
  const release = () => ask(`${base}/lock/${lock.uuid}`, 'DELETE', undefined);
  addEventListener('beforeunload', () => void release().catch(() => undefined));
  // A catalog that nobody has opened is not loaded, and sent without any.
  await ask(`${base}/metadata.json`, 'POST', []);
  const catalogs = JSON.parse(await ask(`${base}/metadata.json`, 'GET', undefined));
  const local = (/** @type {string} */ uri) => uri.replace(/https?:\/\/[^/]*/g, location.origin);
  const [track] = edited.tracks;
  track.uri = local(track.uri);
  const captions = 'WEBVTT\n\n00:02.500 --> 00:03.500\nRight word\n\n';
  const still = await frame(track.uri, captions);
  const seen = {
    settings: await settings(),
    language: (await import('./en-US.js')).language,
    frame: still.split(';')[0],
    waveform: await picture(local(edited.waveformURIs[0])),
    decoded: await decodedSeconds(track.uri),
    worker: await worker(),
    style: style(),
  };
  const third = Math.round(edited.duration / 3);
  const segments = [0, third, 2 * third].map((start, i) => {
    return { start, end: i < 2 ? start + third : edited.duration, deleted: i !== 1, selected: false };
  });
  const fields = (/** @type {{ fields: object[] }} */ catalog) =>
    catalog.fields.map((field) => ({ ...field, collection: undefined }));
  const body = {
    ...{ segments, tracks: [{ ...track, thumbnailUri: still }], customizedTrackSelection: false, chapters: [] },
    subtitles: [{ id: crypto.randomUUID(), subtitle: captions, tags: ['lang: en', 'type: subtitle'] }],
    metadataJSON: JSON.stringify(
      catalogs.map((/** @type {{ flavor: string, title: string, fields: object[] }} */ catalog) => {
        return { flavor: catalog.flavor, title: catalog.title, fields: fields(catalog) };
      }),
    ),
    comments: [],
  };
  const post = (more = {}) => ask(`${base}/edit.json`, 'POST', { ...body, ...more });
  root.replaceChildren();
  button('Save', async () => {
    await post();
    show('Saved');
  });
  button('Process', async () => {
    await post({ workflows: [{ id: edited.workflows[0].id }] });
    await release();
    show('Processing');
  });
  show('Opened', seen);
}

run().catch((error) => show(`Failed: ${error.message}`));
