import { captionsOf, type Publication, type PublicationElement } from '#publications/model.ts';

/** Captions a viewer can choose. */
export interface CaptionsChoice {
  url: string;
  /** A tag of BCP 47, as far as it is known. */
  language: string | undefined;
  /** The language in its own words, and what tells it from others. */
  label: string;
}

/** The captions of a recording with how a player is to call them; no two alike. */
export function captionChoices(
  recording: Pick<Publication, 'elements'>,
  addressOf: (element: PublicationElement) => string,
): CaptionsChoice[] {
  const taken = new Map<string, number>();
  return captionsOf(recording).map((element) => {
    const { language, name: own } = languageOf(element.tags) ?? { language: undefined, name: 'Captions' };
    const automatic = element.tags.includes('generator-type:auto') ? ' (automatic)' : '';
    const name = `${own}${automatic}`;
    const count = (taken.get(name) ?? 0) + 1;
    taken.set(name, count);
    return { url: addressOf(element), language, label: count > 1 ? `${name} ${count}` : name };
  });
}

/** The language of a tag and its name; undefined where the tag is missing or is no language. */
function languageOf(tags: readonly string[]): { language: string; name: string } | undefined {
  const tag = tags.find((each) => each.startsWith('lang:'))?.slice('lang:'.length);
  if (!tag) return undefined;
  try {
    // What follows the language, script and region (extensions, private use) has no name.
    const language = new Intl.Locale(tag.replaceAll('_', '-')).baseName;
    return { language, name: nameOf(language) };
  } catch {
    return undefined;
  }
}

function nameOf(language: string): string {
  const name = new Intl.DisplayNames([language], { type: 'language' }).of(language) ?? language;
  return name.charAt(0).toLocaleUpperCase(language) + name.slice(1);
}
