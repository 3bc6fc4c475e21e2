import { createContext, useContext } from 'react';
import { useOwnName } from '../parts/useOwnName.ts';
import { idOf, ROLE_WORDS } from '../session/roles.ts';
import { useSession } from '../session/session.ts';

export interface Switch {
  /** Shows the sign-in page, where the user can choose another identity. All identities stay signed in. */
  change: () => void;
  /** Forgets the token. Absent if `mex console` holds the token. */
  signOut?: (() => void) | undefined;
}

export const SwitchContext = createContext<Switch>({ change: () => {} });

/** Shows the current identity. A click opens the sign-in page, where the user can choose another identity. */
export function PartySwitch() {
  const { principal, role } = useSession();
  const { change } = useContext(SwitchContext);
  const name = useOwnName();
  return (
    <button className="who" type="button" onClick={change} title={`${principal}: switch to another identity`}>
      <span className="mark">{idOf(principal).slice(0, 2).toUpperCase()}</span>
      <span>
        <b>
          <bdi>{name}</bdi>
        </b>
        <span>{role === 'operator' ? location.host : ROLE_WORDS[role]}</span>
      </span>
    </button>
  );
}
