/** Find: by title, name and reference. */
import { Icon } from '../parts/Icon.tsx';

export function FindButton() {
  return (
    <button className="find" type="button">
      <Icon name="search" />
      <span>Find</span>
      <kbd>/</kbd>
    </button>
  );
}
