import { type ErrorComponentProps, useRouter } from '@tanstack/react-router';
import { ErrorNote } from '../parts/states.tsx';

/** Shows an error message instead of an empty window if a page fails or its files cannot be loaded. */
export function PageError({ error }: ErrorComponentProps) {
  const router = useRouter();
  return <ErrorNote error={error as Error} retry={() => void router.invalidate()} />;
}
