/** The face at its address. */
import { type Address, type Listening, listenAt } from '@measurement-exchange/server';
import { createFace, type FaceOptions } from './server.ts';

export type ListenOptions = Omit<FaceOptions, 'tls'> & Address;

export function listen(options: ListenOptions): Promise<Listening> {
  return listenAt(options, (tls) => createFace({ ...options, tls }));
}
