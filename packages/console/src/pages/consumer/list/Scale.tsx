import { MINI_RANGE } from '../../../charts/index.ts';
import { Icon } from '../../../parts/Icon.tsx';

export function Scale() {
  return (
    <span>
      <Icon name="info" /> Lines show the 95 % interval on a scale of ±&nbsp;{MINI_RANGE * 100}&nbsp;%.
    </span>
  );
}
