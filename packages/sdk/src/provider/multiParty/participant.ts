/** The provider's role in computations by duchies: makes a share or sketch, stores it, and uploads it to a duchy. */
import { liquidLegionsOf, type Requisition, type RequisitionState } from '@measurement-exchange/contract';
import type { MpcProtocol } from '@measurement-exchange/mpc/protocols';
import type { Events, Watch } from '../events.ts';
import type { Sealing } from '../fulfill.ts';
import type { Upload } from '../ledger/responses.ts';
import {
  createDuchyTrust,
  LEGIONS_PROTOCOLS,
  type LiquidLegionsSettings,
  type ShareShuffleSettings,
} from '../verify/duchySettings.ts';
import type { VerifiedRequisition, VerifyContext } from '../verify.ts';
import { prepareOrder, storeShare } from './honestMajorityShareShuffle/share.ts';
import { signShare } from './honestMajorityShareShuffle/signShare.ts';
import { signSketch } from './liquidLegions/signSketch.ts';
import { storeSketch } from './liquidLegions/sketch.ts';
import { PendingUploads, type UploadContext } from './pendingUploads.ts';

export interface ParticipantSettings {
  shareShuffle?: ShareShuffleSettings | undefined;
  liquidLegions?: LiquidLegionsSettings | undefined;
}

export class Participant {
  readonly protocols: readonly MpcProtocol[];
  private readonly settings: ParticipantSettings;
  private readonly uploading: UploadContext;
  private readonly shares: PendingUploads | undefined;
  private readonly sketches: PendingUploads | undefined;
  private readonly accepted: Pick<VerifyContext, 'liquidLegions'> & {
    shareShuffle?: Omit<NonNullable<VerifyContext['shareShuffle']>, 'fetchPopulation'>;
  };

  /** Throws if a root certificate in the settings is invalid. */
  constructor(settings: ParticipantSettings, uploading: UploadContext) {
    const { shareShuffle, liquidLegions } = settings;
    const { protocols = LEGIONS_PROTOCOLS } = liquidLegions ?? { protocols: [] };
    this.settings = settings;
    this.uploading = uploading;
    this.shares = shareShuffle && new PendingUploads(shareShuffle, uploading);
    this.sketches = liquidLegions && new PendingUploads(liquidLegions, uploading);
    this.accepted = {
      ...(shareShuffle && {
        shareShuffle: { ...acceptedOf(shareShuffle), populations: shareShuffle.populations },
      }),
      ...(liquidLegions && { liquidLegions: { ...acceptedOf(liquidLegions), protocols } }),
    };
    this.protocols = [...(shareShuffle ? (['honestMajorityShareShuffle'] as const) : []), ...protocols];
  }

  context(signal?: AbortSignal): Pick<VerifyContext, 'shareShuffle' | 'liquidLegions'> {
    const { shareShuffle, ...others } = this.accepted;
    const fetchPopulation = (name: string) => this.uploading.client.getPopulation({ name, signal });
    return { ...others, ...(shareShuffle && { shareShuffle: { ...shareShuffle, fetchPopulation } }) };
  }

  /**
   * For share shuffle, orders the population's VIDs, which takes seconds if their order is not on disk yet. Does
   * nothing for other protocols.
   */
  async prepare(verified: VerifiedRequisition, watch: Watch): Promise<void> {
    if (verified.shareShuffle) await prepareOrder(verified, { ...this.placesOf(verified.name), ...watch });
  }

  /**
   * Counts people and stores a share or a sketch of them, with new random values each time. Resolves to a function that
   * signs the upload.
   */
  async makeUpload(
    verified: VerifiedRequisition,
    events: Events,
    options: Watch & { onEncrypted(percent: number): void; onWarning(message: string): void },
  ): Promise<(sealing: Sealing) => Promise<Upload>> {
    const { onWarning, onEncrypted, ...watch } = options;
    const { name } = verified;
    if (verified.liquidLegions) {
      const file = this.sketches!.path(name);
      const sketch = await storeSketch(verified, events, { ...watch, file, onEncrypted });
      return (sealing) => signSketch(verified, sketch, sealing);
    }
    const share = await storeShare(verified, events, { ...this.placesOf(name), ...watch });
    if (share.outside > 0) {
      onWarning(`${share.outside} people are not in the population, and were left out.`);
    }
    return (sealing) => signShare(verified, share, sealing);
  }

  async requireUploadable(requisition: Requisition): Promise<void> {
    await this.pendingFor(requisition).requireUploadable(requisition.name!);
  }

  async upload(requisition: Requisition, upload: Upload, watch: Watch): Promise<RequisitionState> {
    return this.pendingFor(requisition).upload(requisition, upload, watch);
  }

  async keepOnly(requisitions: readonly string[]): Promise<void> {
    for (const pending of [this.shares, this.sketches]) await pending?.keepOnly(requisitions);
  }

  private placesOf(requisition: string) {
    return { folder: this.settings.shareShuffle!.folder, file: this.shares!.path(requisition) };
  }

  private pendingFor({ protocolConfig = {} }: Requisition): PendingUploads {
    const pending = liquidLegionsOf(protocolConfig) ? this.sketches : this.shares;
    if (pending) return pending;
    throw new Error(
      'An upload is stored for a protocol that no longer has settings: configure the protocol again.',
    );
  }
}

function acceptedOf({ duchies, noiseMechanisms }: ShareShuffleSettings | LiquidLegionsSettings) {
  return { duchies: createDuchyTrust(duchies), ...(noiseMechanisms && { noiseMechanisms }) };
}
