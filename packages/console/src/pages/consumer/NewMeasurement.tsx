import { A } from '../../parts/A.tsx';
import { Icon } from '../../parts/Icon.tsx';

export function NewMeasurement() {
  return (
    <A className="btn main" to="/new">
      <Icon name="plus" /> New measurement <kbd>N</kbd>
    </A>
  );
}
