import type { ChosenFiles } from './chosen-files.browser.ts';
import type { Guesses } from './guesses.browser.ts';
import type { Audience, Details, Field, Item } from './recording.ts';
import type { SeriesField } from './series.browser.ts';

/** The form in which a recording is described. */
export interface RecordingForm {
  /** Lets somebody change the details of a recording whose files are there. */
  edit(item: Item): void;
}

/** What the form is made of, and where its recordings go. */
export interface FormParts {
  form: HTMLFormElement;
  guesses: Guesses;
  createFiles: (on: {
    onChange: (files: readonly File[]) => void;
    say: (sentence: string) => void;
  }) => ChosenFiles;
  createSeries: (onChange: () => void) => SeriesField;
  add: (details: Details, files: ReadonlyMap<Field, File>) => void;
  /** @returns why not, as a sentence */
  change: (item: Item, details: Details) => string | undefined;
}

/** Sent to the browser as its own source text: it refers to nothing outside itself. */
export function createForm(parts: FormParts): RecordingForm {
  const { form, guesses, createFiles, createSeries, add, change } = parts;
  const part = <T extends HTMLElement>(name: string) => form.querySelector(`[data-part="${name}"]`) as T;
  const [drop, heading, submit, discard, fault] = [
    part('drop'),
    part('heading'),
    part('submit'),
    part('discard'),
    part('fault'),
  ];
  const [title, start] = [part<HTMLInputElement>('title'), part<HTMLInputElement>('start')];
  const presenters = part<HTMLTextAreaElement>('presenters');
  const audience = part<HTMLSelectElement>('audience');
  const asSeries = audience.querySelector('option[value="series"]') as HTMLOptionElement;
  /** What somebody has written stays, whatever the files are called. */
  const own = { title: false, start: false, audience: false };
  let edited: Item | undefined;

  const say = (sentence: string) => {
    fault.textContent = sentence;
    fault.hidden = sentence === '';
  };
  const local = (date: Date) => {
    const shifted = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
    return shifted.toISOString().slice(0, 16);
  };
  const files = createFiles({
    say,
    onChange: (chosen) => {
      if (!own.title) title.value = guesses.title(chosen.map(({ name }) => name));
      const earliest = Math.min(...chosen.map(({ lastModified }) => lastModified));
      if (!own.start) start.value = chosen.length > 0 ? local(new Date(earliest)) : '';
    },
  });
  const series = createSeries(() => {
    const chosen = series?.value() !== undefined;
    asSeries.disabled = asSeries.hidden = !chosen;
    if (!own.audience || (!chosen && audience.value === 'series')) {
      audience.value = chosen ? 'series' : 'users';
    }
  });

  const reset = () => {
    edited = undefined;
    Object.assign(own, { title: false, start: false, audience: false });
    files.clear();
    series.set(undefined);
    title.value = start.value = presenters.value = '';
    audience.value = 'users';
    drop.hidden = false;
    discard.hidden = true;
    heading.textContent = 'A new recording';
    submit.textContent = 'Upload';
    say('');
  };

  /** @returns the details, or the field that lacks something and what it lacks */
  const read = (): Details | { field: HTMLElement; lacks: string } => {
    if (title.value.trim() === '') return { field: title, lacks: 'Give the recording a title.' };
    if (series.undecided()) {
      return { field: part('series'), lacks: 'Choose a series from the list, or leave the field empty.' };
    }
    const date = new Date(start.value);
    if (Number.isNaN(date.getTime())) return { field: start, lacks: 'Say when the recording began.' };
    return {
      title: title.value.trim(),
      series: series.value(),
      presenters: presenters.value.split('\n').flatMap((line) => line.trim() || []),
      start: date.toISOString(),
      audience: audience.value as Audience,
    };
  };

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const chosen = files.files();
    if (!edited && chosen.size === 0) {
      say('Choose the file of the recording first.');
      return part('choose').focus();
    }
    const details = read();
    if ('lacks' in details) {
      say(details.lacks);
      return details.field.focus();
    }
    const late = edited && change(edited, details);
    if (!edited) add(details, chosen);
    reset();
    say(late ?? '');
    part('choose').focus();
  });
  for (const [name, field] of Object.entries({ title, start, audience })) {
    field.addEventListener('input', () => Object.assign(own, { [name]: field.value !== '' }));
  }
  discard.addEventListener('click', () => {
    reset();
    part('choose').focus();
  });
  reset();

  return {
    edit: (item) => {
      reset();
      edited = item;
      const { details } = item.recording;
      Object.assign(own, { title: true, start: true, audience: true });
      series.set(details.series);
      title.value = details.title;
      start.value = local(new Date(details.start));
      presenters.value = details.presenters.join('\n');
      audience.value = details.audience;
      drop.hidden = true;
      discard.hidden = false;
      heading.textContent = 'The details of the recording';
      submit.textContent = 'Use these details';
      title.focus();
    },
  };
}
