/** Shows the stages of several duchies. Each duchy has a row, and each stage has a column. */
import './lanes.css';

/** `none` means that the duchy does not take part in this stage. */
export type StageState = 'done' | 'running' | 'failed' | 'none' | 'waits';

export interface StageCell {
  state: StageState;
  title: string;
  detail?: string;
}

export interface Lane {
  duchy: string;
  role?: string;
  cells: StageCell[];
}

const CLASSES: Record<StageState, string> = { done: 'd', running: 'a', failed: 'x', none: 'o', waits: '' };

export function Lanes({ stages, lanes }: { stages: readonly string[]; lanes: readonly Lane[] }) {
  const width = `lane n${Math.min(stages.length, 6)}`;
  const labels = stages.map((stage, i) => `${i + 1} ${stage}`);
  return (
    <div className="lanes">
      <div className={`${width} hd`} aria-hidden="true">
        <span />
        {labels.map((label) => (
          <span key={label}>{label}</span>
        ))}
      </div>
      {lanes.map(({ duchy, role, cells }) => (
        <div key={duchy} className={width}>
          <span>
            <b>
              <bdi>{duchy}</bdi>
            </b>
            {role && <span className="sub">{role}</span>}
          </span>
          {cells.map(({ state, title, detail }, i) => (
            <span key={labels[i]} className={`cell ${CLASSES[state]}`} data-l={labels[i]}>
              <span className="sr">{labels[i]}: </span>
              <b>{title}</b>
              <span>{detail}</span>
            </span>
          ))}
        </div>
      ))}
    </div>
  );
}
