import { xmlText } from '#metadata/xml-text.ts';

export interface FeedItem {
  id: string;
  title: string;
  description: string;
  presenters: readonly string[];
  published: Date;
  durationMs: number;
  /** The watch page. */
  link: string;
  /** Undefined for a recording without a file to play. */
  enclosure: { url: string; bytes: number; mediatype: string } | undefined;
}

export interface Feed {
  /** The address of the feed. */
  self: string;
  link: string;
  title: string;
  description: string;
  organizers: readonly string[];
  items: readonly FeedItem[];
}

/** Formats a feed as RSS 2.0, with the elements of podcast clients. */
export function rss({ self, link, title, description, organizers, items }: Feed): string {
  const author = organizers.join(', ');
  return `<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd">
<channel>
${element('title', title)}
${element('link', link)}
${element('description', description || title)}
<atom:link href="${xmlText(self)}" rel="self" type="application/rss+xml"/>
<generator>Inlet</generator>
<itunes:explicit>false</itunes:explicit>
${author && `${element('itunes:author', author)}\n`}${items.map(itemXml).join('')}</channel>
</rss>
`;
}

function itemXml({ id, title, description, presenters, published, durationMs, link, enclosure }: FeedItem): string {
  const lines = [
    element('title', title),
    element('link', link),
    `<guid isPermaLink="false">${xmlText(id)}</guid>`,
    element('pubDate', rfc822(published)),
    description && element('description', description),
    presenters.length > 0 && element('itunes:author', presenters.join(', ')),
    element('itunes:duration', String(Math.round(durationMs / 1000))),
    enclosure &&
      `<enclosure url="${xmlText(enclosure.url)}" length="${enclosure.bytes}" type="${xmlText(enclosure.mediatype)}"/>`,
  ];
  return `<item>\n${lines.filter((line) => line).join('\n')}\n</item>\n`;
}

function element(name: string, text: string): string {
  return `<${name}>${xmlText(text)}</${name}>`;
}

/** Formats a time as RSS requires it. */
function rfc822(date: Date): string {
  return date.toUTCString().replace('GMT', '+0000');
}
