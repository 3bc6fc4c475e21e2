/** Keyboard shortcuts of all pages. */
export function Shortcuts() {
  return null;
}
