/** What an agent does where duchies compute: makes its share or sketch, stores it, and brings it to the duchy that takes it. */
import {
  liquidLegionsOf,
  type Requisition,
  type RequisitionState,
  toBase64,
} from '@measurement-exchange/contract';
import type { Events, Watch } from '../events.ts';
import type { Sealing } from '../fulfill.ts';
import type { Upload } from '../ledger.ts';
import type { VerifiedRequisition, VerifyContext } from '../verify.ts';
import type { MultiPartyProtocol } from './capabilities.ts';
import { createDelivery, type Delivery, type DeliveryOptions } from './delivery.ts';
import { signShare, signSketch } from './fulfillment.ts';
import {
  createDuchyTrust,
  LEGIONS_PROTOCOLS,
  type LiquidLegionsSettings,
  type ShareShuffleSettings,
} from './settings.ts';
import { prepareOrder, storeShare } from './share.ts';
import { storeSketch } from './sketch.ts';

/** A provider's part in computations by duchies. */
export interface Participant {
  readonly protocols: readonly MultiPartyProtocol[];
  /** What is accepted of each protocol. */
  context(call: { signal?: AbortSignal }): Pick<VerifyContext, 'shareShuffle' | 'liquidLegions'>;
  /** What takes long and depends on the population alone. */
  prepare(verified: VerifiedRequisition, watch: Watch): Promise<void>;
  /** Counts people, and stores a share or a sketch of them: another one each time. What it returns signs the upload. */
  makeUpload(
    verified: VerifiedRequisition,
    events: Events,
    options: Watch & { onEncrypted(percent: number): void; onWarning(message: string): void },
  ): Promise<(sealing: Sealing) => Promise<Upload>>;
  /** Throws RefusalError where a stored upload cannot be sent: its share is gone, or its duchy never takes it. */
  requireDeliverable(requisition: Requisition): Promise<void>;
  /** Throws UploadRejected where the duchy rejects it. */
  deliver(requisition: Requisition, upload: Upload, watch: Watch): Promise<RequisitionState>;
  /** Removes what is stored of requisitions that are not among these: shares, and rejections. */
  keepOnly(requisitions: Iterable<string>): Promise<void>;
}

export interface ParticipantSettings {
  shareShuffle?: ShareShuffleSettings | undefined;
  liquidLegions?: LiquidLegionsSettings | undefined;
}

/** Throws where a root of the settings is not one. */
export function createParticipant(
  { shareShuffle, liquidLegions }: ParticipantSettings,
  options: DeliveryOptions,
): Participant {
  const shares = shareShuffle && createDelivery(shareShuffle, options);
  const sketches = liquidLegions && createDelivery(liquidLegions, options);
  const deliveryFor = ({ protocolConfig = {} }: Requisition): Delivery => {
    const delivery = liquidLegionsOf(protocolConfig) ? sketches : shares;
    if (delivery) return delivery;
    throw new Error('An upload is stored for a protocol that has no settings any more: set them again.');
  };
  const { protocols = LEGIONS_PROTOCOLS } = liquidLegions ?? { protocols: [] };
  const shareContext = shareShuffle && accepted(shareShuffle);
  const legionsContext = liquidLegions && { ...accepted(liquidLegions), protocols };
  /** By population: its order is on the disk once the promise resolves. */
  const orders = new Map<string, Promise<void>>();

  return {
    protocols: [...(shareShuffle ? (['honestMajorityShareShuffle'] as const) : []), ...protocols],
    context: (call) => ({
      ...(shareContext && {
        shareShuffle: {
          ...shareContext,
          populations: shareShuffle!.populations,
          fetchPopulation: (name) => options.client.getPopulation({ name, ...call }),
        },
      }),
      ...(legionsContext && { liquidLegions: legionsContext }),
    }),
    async prepare(verified, watch) {
      if (!verified.shareShuffle) return;
      const places = { folder: shareShuffle!.folder, file: shares!.path(verified.name) };
      const population = toBase64(verified.shareShuffle.config.populationFingerprint);
      const order = orders.get(population) ?? prepareOrder(verified, { ...places, ...watch });
      orders.set(population, order);
      order.catch(() => orders.delete(population));
      await order;
    },
    async makeUpload(verified, events, { onWarning, onEncrypted, ...watch }) {
      const { name } = verified;
      if (verified.liquidLegions) {
        const sketch = await storeSketch(verified, events, {
          ...watch,
          file: sketches!.path(name),
          onEncrypted,
        });
        return (sealing) => signSketch(verified, sketch, sealing);
      }
      const places = { folder: shareShuffle!.folder, file: shares!.path(name) };
      const share = await storeShare(verified, events, { ...places, ...watch });
      if (share.outside > 0)
        onWarning(`${share.outside} people are not of the population, and were left out.`);
      return (sealing) => signShare(verified, share, sealing);
    },
    requireDeliverable: async (requisition) => deliveryFor(requisition).requireDeliverable(requisition.name!),
    deliver: async (requisition, upload, watch) =>
      deliveryFor(requisition).deliver(requisition, upload, watch),
    async keepOnly(requisitions) {
      const names = [...requisitions];
      for (const delivery of [shares, sketches]) await delivery?.keepOnly(names);
    },
  };
}

/** What both families of protocols have in common. */
function accepted({ duchies, noiseMechanisms }: ShareShuffleSettings | LiquidLegionsSettings) {
  return { duchies: createDuchyTrust(duchies), ...(noiseMechanisms && { noiseMechanisms }) };
}
