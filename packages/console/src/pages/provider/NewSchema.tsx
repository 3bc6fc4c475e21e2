import { PageHead } from '../../parts/PageHead.tsx';
import { UploadSchema } from './UploadSchema.tsx';

export default function NewSchema() {
  return (
    <>
      <PageHead
        above={{ to: '/schemas', text: 'Schemas' }}
        title="Register a schema"
        meta={['The shape of the metadata in your event groups, so that advertisers can read it']}
      />
      <section className="card">
        <div className="in-card">
          <UploadSchema />
        </div>
      </section>
    </>
  );
}
