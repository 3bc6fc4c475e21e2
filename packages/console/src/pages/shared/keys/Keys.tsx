/** The party's certificates, and the roots and duchies that it trusts. */
import { useResource } from '../../../live/useResource.ts';
import { PageHead } from '../../../parts/PageHead.tsx';
import { Loaded, NeedsKey } from '../../../parts/states.tsx';
import { useSession } from '../../../session/session.ts';
import { Certificates } from './Certificates.tsx';
import { Trust } from './Trust.tsx';
import './keys.css';

export default function Keys() {
  const { companion } = useSession();
  return (
    <>
      <PageHead
        title="Keys and trust"
        meta={['What you sign with, and whose signatures you accept', companion && <Place key="place" />]}
      />
      <Certificates />
      {companion ? <Trusted /> : <NeedsKey what="Whom you trust is known only on your own machine." />}
    </>
  );
}

function useAbout() {
  return useResource('certificates', ['about'], ({ companion }, signal) => companion!.about({}, { signal }));
}

function Place() {
  const { data } = useAbout();
  if (data === undefined) return null;
  return data.identity ? (
    <>
      Keys in <bdi className="mono">{data.identity}</bdi>
    </>
  ) : (
    'Demo keys'
  );
}

function Trusted() {
  return <Loaded query={useAbout()}>{(about) => <Trust about={about} />}</Loaded>;
}
