/** Keyboard shortcuts of all pages, and the dialog that lists them. */
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import type { Role } from '../session/roles.ts';
import { useSession } from '../session/session.ts';
import { openFind } from './Find.tsx';
import { areLettersOn, keysOnPage, moveRow, press, setLetters } from './keys.ts';
import { PAGES } from './pages.ts';
import { toggleTheme } from './theme.tsx';
import './shortcuts.css';

const NEW_MEASUREMENT = '/new';
/** The maximum time between the key `G` and the second key. */
const SECOND_KEY_MS = 1500;

let openDialog = () => {};
export const openShortcuts = () => openDialog();

export function Shortcuts() {
  const { role } = useSession();
  const navigate = useNavigate();
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    openDialog = () => setOpen(true);
    let goneUntil = 0;
    const onKey = (event: KeyboardEvent) => {
      const isFind = event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey);
      if (isFind) {
        event.preventDefault();
        openFind();
        return;
      }
      if (!isForPage(event)) return;
      const isSecond = Date.now() < goneUntil;
      goneUntil = 0;
      const path = isSecond ? pathFor(event.key, role) : undefined;
      if (path) void navigate({ to: path as '.' });
      else if (event.key.toLowerCase() === 'g') goneUntil = Date.now() + SECOND_KEY_MS;
      else if (!run(event.key, role, (to) => void navigate({ to: to as '.' }), openDialog)) return;
      event.preventDefault();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [role, navigate]);
  return isOpen ? <ShortcutsDialog role={role} onClose={() => setOpen(false)} /> : null;
}

/**
 * Returns false if a key press must not trigger a shortcut, because the user turned shortcuts off, holds Ctrl, Meta, or
 * Alt, types in a field, or has a dialog open.
 */
function isForPage(event: KeyboardEvent): boolean {
  if (!areLettersOn() || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return false;
  const { target } = event;
  const isField =
    target instanceof HTMLElement && target.closest('input, textarea, select, [contenteditable]') !== null;
  return !isField && document.querySelector('dialog[open]') === null;
}

function run(key: string, role: Role, go: (path: string) => void, showAll: () => void): boolean {
  switch (key.toUpperCase()) {
    case '/':
      openFind();
      return true;
    case '?':
      showAll();
      return true;
    case 'T':
      toggleTheme();
      return true;
    case 'L':
      void navigator.clipboard.writeText(location.href);
      return true;
    case 'J':
    case 'K':
      return moveRow(key.toUpperCase() === 'J' ? 1 : -1);
    case 'N':
      if (hasPage(NEW_MEASUREMENT, role)) go(NEW_MEASUREMENT);
      return hasPage(NEW_MEASUREMENT, role);
    default:
      return press(key.toUpperCase());
  }
}

const hasPage = (path: string, role: Role) =>
  PAGES.some((page) => page.path === path && page.roles.includes(role));
const withKey = (role: Role) => PAGES.filter(({ nav, roles }) => nav?.key && roles.includes(role));
const pathFor = (key: string, role: Role) =>
  withKey(role).find(({ nav }) => nav!.key!.toUpperCase() === key.toUpperCase())?.path;

function ShortcutsDialog({ role, onClose }: { role: Role; onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [isOn, setOn] = useState(areLettersOn);
  useEffect(() => dialog.current?.showModal(), []);
  const toggle = () => {
    setLetters(!isOn);
    setOn(!isOn);
  };
  return (
    <dialog ref={dialog} className="shortcuts" aria-labelledby="shortcuts-title" onClose={onClose}>
      <div className="stack">
        <h2 id="shortcuts-title">Shortcuts</h2>
        <dl>
          {listOf(role).map(([keys, words]) => (
            <div key={keys}>
              <dt>
                {keys.split(' ').map((key) => (
                  <kbd key={key}>{key}</kbd>
                ))}
              </dt>
              <dd>{words}</dd>
            </div>
          ))}
        </dl>
        <label className="tag">
          <input type="checkbox" checked={isOn} onChange={toggle} /> Use single keys. Without them, Ctrl K
          finds.
        </label>
        <div className="acts">
          <button type="button" className="btn" onClick={onClose}>
            Close
          </button>
        </div>
      </div>
    </dialog>
  );
}

function listOf(role: Role): [keys: string, words: string][] {
  return [
    ['/', 'Find'],
    ...(hasPage(NEW_MEASUREMENT, role) ? [['N', 'New measurement'] as [string, string]] : []),
    ...withKey(role).map(({ nav }): [string, string] => [`G ${nav!.key}`, `Go to ${nav!.label}`]),
    ['J K', 'Next and previous row'],
    ['Enter', 'Open the row'],
    ...keysOnPage(),
    ['L', 'Copy the link to this page'],
    ['T', 'Light or dark'],
    ['?', 'This list'],
    ['Esc', 'Close'],
  ];
}
