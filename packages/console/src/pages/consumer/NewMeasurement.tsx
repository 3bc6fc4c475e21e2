import { A } from '../../parts/A.tsx';
import { Icon } from '../../parts/Icon.tsx';

/** The link to the form for a new measurement. */
export function NewMeasurement() {
  return (
    <A className="btn main" to="/new">
      <Icon name="plus" /> New measurement <kbd>N</kbd>
    </A>
  );
}
