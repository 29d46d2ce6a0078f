import { pagePolicy } from '#platform/http/answer/page.ts';
import { SCRIPT } from './script.ts';
import { STYLE } from './style.ts';

/** What the page plays with, and how it looks. */
export const PARTS = { script: SCRIPT, style: STYLE };

/** Only media from this server; any site may show the page in a frame. */
export const CONTENT_SECURITY_POLICY = pagePolicy(PARTS, "img-src 'self' data:", "media-src 'self'");
