export {
  newSealingKey,
  opened,
  sealed,
  sealedLength,
  shareContext,
} from '@measurement-exchange/consent/sealing';
