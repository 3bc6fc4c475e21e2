/** A bug or a lie: what somebody sent does not follow the protocol. */
export class LiquidLegionsError extends Error {
  override name = 'LiquidLegionsError';
}
