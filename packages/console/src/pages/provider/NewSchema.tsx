import { PageHead } from '../../parts/PageHead.tsx';
import { UploadSchema } from './UploadSchema.tsx';

/** Registers a schema. */
export default function NewSchema() {
  return (
    <>
      <PageHead title="Register a schema" />
      <section className="card">
        <div className="in-card">
          <UploadSchema />
        </div>
      </section>
    </>
  );
}
