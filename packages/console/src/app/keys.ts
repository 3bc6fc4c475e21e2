/** Keyboard shortcuts for the controls of the current page. The key C clicks the control with `data-key="C"`. */

const STORED = 'single-keys';

/** Whether single-key shortcuts are on. Users can turn them off, because speech input can trigger them. */
export const areLettersOn = () => localStorage.getItem(STORED) !== 'off';
export const setLetters = (isOn: boolean) => localStorage.setItem(STORED, isOn ? 'on' : 'off');

const keyed = () =>
  [...document.querySelectorAll<HTMLElement>('main [data-key]')].filter((each) => each.checkVisibility());

export function press(key: string): boolean {
  const control = keyed().find((each) => each.dataset.key === key);
  control?.click();
  return control !== undefined;
}

export function keysOnPage(): [key: string, words: string][] {
  return keyed().map((each) => [each.dataset.key!, each.textContent.trim()]);
}

/** Moves the focus to the next or previous row of a list or table. Returns false if the page has no rows. */
export function moveRow(step: 1 | -1): boolean {
  const selector = 'main tbody tr:not([aria-hidden]), main .att > li';
  const links = [...document.querySelectorAll(selector)].flatMap(
    (row) => row.querySelector<HTMLElement>('a[href]') ?? [],
  );
  if (links.length === 0) return false;
  const at = links.indexOf(document.activeElement as HTMLElement);
  const next =
    at === -1 ? (step === 1 ? 0 : links.length - 1) : Math.min(links.length - 1, Math.max(0, at + step));
  links[next]!.focus();
  return true;
}
