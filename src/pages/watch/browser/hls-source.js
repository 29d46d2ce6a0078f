/** @import Hls from 'hls.js' */
/** @import { HlsConfig, LoaderStats } from 'hls.js' */
/** @import { Source } from './media-source.js' */
import { bestWithin, LineMeter, shareLine } from './line-share.js';
import { renditionsOf } from './media-source.js';

/** The seconds that are loaded ahead: until all media have begun and the recording is started, and afterwards. */
const AHEAD = { waiting: 3, playing: 60 };
/** The best quality of a picture in the corner. */
const SMALL_QUALITY = 480;
/** From here on, better pictures replace what is loaded ahead. */
const REPLACED_SECONDS = 10;
const REPLACE_FACTOR = 2;
/** The time between attempts while the server cannot be reached. */
const RETRY_MS = 5_000;

/** @type {Partial<HlsConfig>} */
const CONFIG = {
  // The policy of the page allows no workers, and fragmented MP4 needs none.
  enableWorker: false,
  // The lowest rendition, so that playback begins soon.
  startLevel: 0,
  maxBufferLength: AHEAD.waiting,
  maxMaxBufferLength: AHEAD.waiting,
  backBufferLength: 30,
  // By default, the automatic choice never returns to a quality after one lost request.
  errorPenaltyExpireMs: 30_000,
};

/** Plays the playlists of a recording, which share one line: the leader has precedence. */
export class HlsGroup {
  #meter = new LineMeter();
  #library;
  #leader;
  /** @type {Map<HTMLMediaElement, Hls>} */
  #players = new Map();
  /** Those with a first segment. @type {Set<HTMLMediaElement>} */
  #begun = new Set();
  #isStarted = false;

  /** @param {typeof Hls} library @param {HTMLMediaElement} leader */
  constructor(library, leader) {
    this.#library = library;
    this.#leader = leader;
    const start = () => {
      this.#isStarted = true;
      this.#loadAhead();
    };
    if (leader.paused) leader.addEventListener('play', start, { once: true });
    else start();
  }

  /** Returns the measured bit rate of the line. */
  get bitsPerSecond() {
    return this.#meter.bitsPerSecond;
  }

  /**
   * Plays a playlist.
   *
   * @param {HTMLMediaElement} media
   * @param {string} playlist
   * @param {() => void} onFailure called once if the playlist cannot be played
   * @returns {Source}
   */
  play(media, playlist, onFailure) {
    const leads = media === this.#leader;
    const { Events, ErrorTypes } = this.#library;
    const startPosition = this.#leader.currentTime;
    const hls = new this.#library({ ...CONFIG, startPosition, autoStartLoad: leads });
    this.#players.set(media, hls);
    let hasRecovered = false;
    hls.on(Events.ERROR, (_, { fatal, type, response }) => {
      if (!fatal) return;
      const status = response?.code ?? 0;
      const isRefused = status >= 400 && status < 500;
      if (type === ErrorTypes.NETWORK_ERROR && this.#begun.has(media) && !isRefused) {
        // Another source would lose what is loaded already.
        setTimeout(() => this.#players.get(media)?.startLoad(), RETRY_MS);
        return;
      }
      if (type === ErrorTypes.MEDIA_ERROR && this.#begun.has(media) && !hasRecovered) {
        hasRecovered = true;
        // A fatal error has stopped the library, which would not continue at the position.
        const position = media.currentTime;
        hls.recoverMediaError();
        hls.startLoad(position);
        return;
      }
      this.#players.delete(media);
      // Before the position is lost.
      onFailure();
      hls.destroy();
      if (leads) this.#startFollowers();
      this.#loadAhead();
    });
    /** @type {number | undefined} */
    let chosen;
    hls.on(Events.MANIFEST_PARSED, () => {
      this.#capSmallPicture(media);
      if (chosen !== undefined) choose(hls, media, chosen);
    });
    const measure = (/** @type {LoaderStats} */ { loaded, loading }) =>
      this.#meter.add({ bytes: loaded, start: loading.start, end: loading.end || performance.now() });
    hls.on(Events.FRAG_LOADED, (_, { frag }) => measure(frag.stats));
    hls.on(Events.FRAG_LOAD_EMERGENCY_ABORTED, (_, { stats }) => measure(stats));
    hls.on(Events.FRAG_BUFFERED, () => {
      this.#begun.add(media);
      if (leads) this.#startFollowers();
      this.#loadAhead();
      this.#divideLine();
      for (const [each, player] of this.#players) replaceAhead(player, each);
    });
    let plays = !media.paused;
    media.addEventListener('play', () => {
      plays = true;
    });
    media.addEventListener('pause', () => {
      plays = false;
    });
    // Attaching pauses a medium without an event. The library also does it after a fault.
    hls.on(Events.MEDIA_ATTACHED, () => {
      // The next fault may come before anything is loaded.
      if (hls.startPosition > 0) media.currentTime = hls.startPosition;
      if (plays) media.play().catch(() => undefined);
    });
    hls.loadSource(playlist);
    hls.attachMedia(media);
    return {
      choose: (quality) => {
        chosen = quality;
        choose(hls, media, quality);
      },
    };
  }

  /** Limits the quality of pictures in the corner. */
  capSmallPictures() {
    for (const media of this.#players.keys()) this.#capSmallPicture(media);
  }

  /** @param {HTMLMediaElement} media */
  #capSmallPicture(media) {
    const hls = this.#players.get(media);
    if (!hls) return;
    const isSmall = media.classList.contains('is-small');
    hls.autoLevelCapping = isSmall ? bestWithin(qualitiesOf(hls, media), SMALL_QUALITY) : -1;
  }

  #startFollowers() {
    for (const [media, hls] of this.#players) {
      if (media !== this.#leader && !hls.loadingEnabled) hls.startLoad(this.#leader.currentTime);
    }
  }

  #loadAhead() {
    if (!this.#isStarted || [...this.#players.keys()].some((media) => !this.#begun.has(media))) return;
    for (const { config } of this.#players.values()) {
      config.maxBufferLength = config.maxMaxBufferLength = AHEAD.playing;
    }
  }

  /** Gives each player its share of the line as the bandwidth to choose by. */
  #divideLine() {
    const line = this.#meter.bitsPerSecond;
    const leader = this.#players.get(this.#leader);
    if (line === undefined) return;
    const followers = [...this.#players.values()].filter((hls) => hls !== leader);
    const shares = shareLine({
      line,
      leaderUses: leader?.levels[Math.max(0, leader.loadLevel)]?.bitrate ?? 0,
      followersNeed: followers.map(({ levels }) => levels[0]?.bitrate ?? 0),
    });
    if (leader) leader.bandwidthEstimate = shares.leader;
    for (const [i, hls] of followers.entries()) hls.bandwidthEstimate = shares.followers[i] ?? line;
  }
}

/** Replaces the segments loaded ahead when the line has become much better. @param {Hls} hls @param {HTMLMediaElement} media */
function replaceAhead(hls, media) {
  if (!hls.autoLevelEnabled || hls.currentLevel < 0) return;
  const next = hls.nextAutoLevel;
  const bitRate = hls.levels[next]?.bitrate ?? Number.POSITIVE_INFINITY;
  const isBetter = next > hls.currentLevel && next > hls.nextLevel;
  const isAmple = hls.bandwidthEstimate > bitRate * REPLACE_FACTOR;
  if (isBetter && isAmple && (hls.mainForwardBufferInfo?.len ?? 0) > REPLACED_SECONDS && !media.seeking) {
    hls.nextLevel = -1;
  }
}

/** @param {Hls} hls @param {HTMLMediaElement} media @param {number | undefined} quality */
function choose(hls, media, quality) {
  hls.nextLevel = quality === undefined ? -1 : bestWithin(qualitiesOf(hls, media), quality);
}

/** Returns the qualities of the levels, which are those of the files beside their playlists. @param {Hls} hls @param {HTMLMediaElement} media */
function qualitiesOf({ levels }, media) {
  const folder = (/** @type {string} */ url) => new URL('.', new URL(url, document.baseURI)).pathname;
  const qualities = new Map(renditionsOf(media).map(({ url, quality }) => [folder(url), quality]));
  return levels.map(({ uri }) => qualities.get(folder(uri)) ?? 0);
}
