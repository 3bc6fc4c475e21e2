import { A } from '../parts/A.tsx';
import { PageHead } from '../parts/PageHead.tsx';

/** Shown for an unknown address, and for a page that is not available to the user's role. */
export function NotFound() {
  return (
    <>
      <PageHead title="There is no such page" />
      <p className="soft">
        The address may belong to another role than yours. <A to="/">Go to the first page</A>
      </p>
    </>
  );
}
