import { type ErrorComponentProps, useRouter } from '@tanstack/react-router';
import { ErrorNote } from '../parts/states.tsx';

/** Shows the error of a page that failed, or whose files could not be read, instead of an empty window. */
export function PageError({ error }: ErrorComponentProps) {
  const router = useRouter();
  return <ErrorNote error={error as Error} retry={() => void router.invalidate()} />;
}
