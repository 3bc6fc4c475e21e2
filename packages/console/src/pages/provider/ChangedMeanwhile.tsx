import { moment } from '../../format.ts';
import { Icon } from '../../parts/Icon.tsx';
import type { Difference } from './eventGroupDraft.ts';

/**
 * Compares two versions of an event group, so that the user can choose one. Nothing is saved until the user chooses.
 */
export function ChangedMeanwhile({
  differences,
  time,
  takeTheirs,
  keepMine,
}: {
  differences: readonly Difference[];
  time: string | undefined;
  takeTheirs: () => void;
  keepMine: () => void;
}) {
  return (
    <section className="card why warn" role="alert">
      <div className="in-card stack">
        <h2>It has changed meanwhile</h2>
        <p className="soft">
          Somebody else saved this event group{time && ` on ${moment(time)}`}. Nothing of yours was saved or
          lost.
        </p>
        {differences.length === 0 ? (
          <p>Both versions say the same.</p>
        ) : (
          <table className="fold dense">
            <thead>
              <tr>
                <th>Field</th>
                <th>At the exchange now</th>
                <th>In this form</th>
              </tr>
            </thead>
            <tbody>
              {differences.map(({ label, theirs, mine }) => (
                <tr key={label}>
                  <td>{label}</td>
                  <td data-l="Now">
                    <bdi>{theirs || 'empty'}</bdi>
                  </td>
                  <td data-l="Here">
                    <bdi>{mine || 'empty'}</bdi>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
        <div className="row">
          <button type="button" className="btn" onClick={takeTheirs}>
            <Icon name="down" /> Take the version at the exchange
          </button>
          <button type="button" className="btn" onClick={keepMine}>
            Keep this form, and save over it
          </button>
        </div>
      </div>
    </section>
  );
}
