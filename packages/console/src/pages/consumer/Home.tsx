import { PageHead } from '../../parts/PageHead.tsx';

export default function Home() {
  return <PageHead title="Home" />;
}
