export { sealedLength } from './pieces.ts';
export { newSealingKey, opened, sealed, shareContext } from './sealing.ts';
