/** The light and dark theme. The browser stores the user's choice. Without a choice, the page follows the system. */
import { Icon } from '../parts/Icon.tsx';

const KEY = 'theme';

export function applyTheme(): void {
  const theme = localStorage.getItem(KEY);
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
}

export function toggleTheme(): void {
  const { dataset } = document.documentElement;
  const isDark = dataset.theme
    ? dataset.theme === 'dark'
    : matchMedia('(prefers-color-scheme: dark)').matches;
  dataset.theme = isDark ? 'light' : 'dark';
  localStorage.setItem(KEY, dataset.theme);
}

export function ThemeButton() {
  return (
    <button
      className="btn icon plain"
      type="button"
      aria-label="Switch between light and dark"
      onClick={toggleTheme}
    >
      <Icon name="theme" />
    </button>
  );
}
