import type { Guesses } from './guesses.browser.ts';
import type { Field } from './recording.ts';
import type { Words } from './words.browser.ts';

/** The one or two files that somebody has chosen for a recording, and as what each is meant. */
export interface ChosenFiles {
  files(): ReadonlyMap<Field, File>;
  clear(): void;
}

/**
 * A field for files, by a chooser or by dragging them to the page.
 *
 * @param root has the parts `drop`, `choose` and `chosen`, and the template `chosen-file`
 * @param say shows a sentence, or nothing
 *
 * Sent to the browser as its own source text: it refers to nothing outside itself.
 */
export function createChosenFiles(
  root: ParentNode,
  { words, guesses }: { words: Words; guesses: Guesses },
  { onChange, say }: { onChange: (files: readonly File[]) => void; say: (sentence: string) => void },
): ChosenFiles {
  const MOST = 2;
  const part = <T extends HTMLElement>(name: string) => root.querySelector(`[data-part="${name}"]`) as T;
  const [drop, list] = [part('drop'), part('chosen')];
  const choose = part<HTMLInputElement>('choose');
  const template = document.querySelector<HTMLTemplateElement>('#chosen-file') as HTMLTemplateElement;
  interface Chosen {
    file: File;
    field: Field;
    /** Whether somebody has said so. */
    said: boolean;
  }
  let chosen: Chosen[] = [];
  const other = (field: Field): Field => (field === 'presenter' ? 'presentation' : 'presenter');

  const show = () => {
    list.replaceChildren(...chosen.map(rowOf));
    list.hidden = chosen.length === 0;
    onChange(chosen.map(({ file }) => file));
  };
  const rowOf = (entry: Chosen) => {
    const row = template.content.cloneNode(true) as DocumentFragment;
    const find = <T extends HTMLElement>(name: string) => row.querySelector(`[data-part="${name}"]`) as T;
    const [name, size, select, remove] = [
      find('name'),
      find('size'),
      find<HTMLSelectElement>('field'),
      find('remove'),
    ];
    name.textContent = entry.file.name;
    size.textContent = words.size(entry.file.size);
    select.value = entry.field;
    select.setAttribute('aria-label', `What ${entry.file.name} shows`);
    select.addEventListener('change', () => {
      for (const each of chosen) {
        each.field = each === entry ? (select.value as Field) : other(select.value as Field);
        each.said = true;
      }
      for (const [i, each] of chosen.entries()) {
        const selects = list.querySelectorAll<HTMLSelectElement>('select');
        if (selects[i]) selects[i].value = each.field;
      }
    });
    remove.setAttribute('aria-label', `Leave ${entry.file.name} out`);
    remove.addEventListener('click', () => {
      chosen = chosen.filter((each) => each !== entry);
      show();
      choose.focus();
    });
    return row;
  };

  const take = (files: readonly File[]) => {
    if (drop.hidden) return say('Be done with the details of this recording first, then choose the next.');
    say('');
    const empty = files.find(({ size }) => size === 0);
    if (empty) return say(`“${empty.name}” is empty, or a folder.`);
    const known = chosen.map(({ file }) => file);
    const fresh = files.filter(
      ({ name, size, lastModified }) =>
        !known.some((file) => file.name === name && file.size === size && file.lastModified === lastModified),
    );
    if (known.length + fresh.length > MOST) {
      return say('A recording has one or two files. Upload the first recording, then choose the next.');
    }
    const all = [...known, ...fresh];
    const fields = guesses.fields(all.map(({ name }) => name));
    const said = chosen.find((entry) => entry.said);
    chosen = all.map((file, i) => {
      if (!said) return { file, field: fields[i] ?? 'presenter', said: false };
      return { file, field: file === said.file ? said.field : other(said.field), said: true };
    });
    show();
  };

  choose.addEventListener('change', () => {
    take([...(choose.files ?? [])]);
    // So that the same one can be chosen again.
    choose.value = '';
  });
  let inside = 0;
  const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') === true;
  const light = (change: number) => {
    inside = Math.max(0, inside + change);
    drop.classList.toggle('over', inside > 0);
  };
  // Anywhere: a browser would leave the page for a file that is dropped beside.
  addEventListener('dragenter', (event) => hasFiles(event) && light(1));
  addEventListener('dragleave', (event) => hasFiles(event) && light(-1));
  addEventListener('dragover', (event) => {
    if (hasFiles(event)) event.preventDefault();
  });
  addEventListener('drop', (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    light(-inside);
    take([...(event.dataTransfer?.files ?? [])]);
  });
  return {
    files: () => new Map(chosen.map(({ file, field }) => [field, file])),
    clear: () => {
      chosen = [];
      show();
    },
  };
}
