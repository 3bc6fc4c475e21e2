import { createContext, useContext } from 'react';
import { idOf, ROLE_WORDS } from '../session/roles.ts';
import { useSession } from '../session/session.ts';

/** Signs out, or switches to another identity: shows the first page again. */
export const SwitchContext = createContext<() => void>(() => {});

/** Shows who uses the page, and switches to somebody else. */
export function PartySwitch() {
  const { principal, role } = useSession();
  const change = useContext(SwitchContext);
  const id = idOf(principal);
  return (
    <button className="who" type="button" onClick={change} title={`${principal}: switch to another identity`}>
      <span className="mark">{id.slice(0, 2).toUpperCase()}</span>
      <span>
        <b>{id}</b>
        <span>{ROLE_WORDS[role]}</span>
      </span>
    </button>
  );
}
