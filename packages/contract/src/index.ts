export { CHANGE_KINDS, Change, type ChangeKind } from './codecs/change.ts';
export {
  ApiKey,
  ApiKeyInput,
  ATTENTION_CODES,
  ATTRIBUTE_TYPES,
  Attention,
  type AttentionCode,
  AuditEntry,
  Capabilities,
  Certificate,
  Computation,
  ComputationRequisition,
  Count,
  DataProvider,
  DataProviderEntry,
  DEFAULT_ENTITY_TYPE,
  Deferral,
  type DeliveryState,
  Doctor,
  DoctorFinding,
  Duchy,
  type DuchyEntry,
  defaultSignatureAlgorithm,
  EncryptedMessage,
  EncryptedRequisitionSpec,
  EncryptionPublicKey,
  EVENT_GROUP_STATES,
  EventGroup,
  EventGroupAttribute,
  EventGroupCreation,
  EventGroupInput,
  EventGroupMetadataDescriptor,
  ExchangeStatus,
  FailRequest,
  Finding,
  FulfillDirectRequest,
  FulfillmentContext,
  findSignatureAlgorithm,
  frequencySketchMembers,
  Interval,
  type LiquidLegionsConfig,
  LiquidLegionsV2Config,
  LogRequest,
  liquidLegionsOf,
  MAX_ATTRIBUTES,
  MAX_COUNT,
  MAX_ENTITY_METADATA_BYTES,
  MAX_QUESTION_BYTES,
  MAX_REPORT_ANSWER_BYTES,
  MAX_REPORT_DEFINITION_BYTES,
  MAX_REPORT_MEASUREMENTS,
  MAX_RING_MODULUS,
  MAX_VID,
  MAX_WEBHOOK_URL,
  MEDIA_TYPES,
  Measurement,
  MeasurementConsumer,
  MeasurementInput,
  type MediaType,
  PARTICIPANT_STATES,
  PARTY_STATES,
  Participant,
  type ParticipantState,
  PartyHealth,
  PartyInput,
  type PartyState,
  PartySummary,
  Population,
  PopulationInput,
  PopulationUpdate,
  PrincipalBinding,
  PrincipalInput,
  Progress,
  ProtocolConfig,
  ReachOnlyLiquidLegionsV2Config,
  RedeliverRequest,
  Refusal,
  Replica,
  Report,
  ReportInput,
  ReportMeasurement,
  ReportUpdate,
  Requisition,
  SchemaChange,
  SetParametersRequest,
  ShareShuffleConfig,
  SIGNATURE_ALGORITHMS,
  type SignatureAlgorithm,
  type SignatureAlgorithmName,
  SignedMessage,
  StateCount,
  Subpopulation,
  signatureHash,
  sketchMembers,
  Timeline,
  TrustedRoot,
  VidRange,
  Webhook,
  WebhookCounts,
  WebhookDelivery,
  WebhookInput,
  type WebhookState,
  WebhookUpdate,
  WhoAmI,
  WorkSummary,
  wishedProtocol,
} from './codecs/components.ts';
export {
  FULFILLMENT_PURPOSE,
  FulfillmentPart,
  STAGE_MESSAGE_PURPOSE,
  StageMessagePart,
} from './codecs/duchyMessages.ts';
export { Ending, Explanation, Risk, WAIT_CODES, Wait, type WaitCode } from './codecs/explanation.ts';
export { populationBytes, populationSize } from './codecs/vidRanges.ts';
export {
  describeFailure,
  describeProgress,
  FAILURE_CODES,
  type FailureCode,
  isStageName,
  type Position,
  PROGRESS_CODES,
  type ProgressCode,
  positionViolations,
  STAGE_RULE,
} from './errors/computationCodes.ts';
export { ExchangeError, errorFromJson, invalid, REQUIRED, type Violation } from './errors/errors.ts';
export { type Code, httpStatusOf, REASONS, type Reason } from './errors/reasons.ts';
export * as tink from './gen/google/crypto/tink/tink_pb.ts';
export { type Binding, BindingSchema } from './gen/mex/contract/binding_pb.ts';
export * as duchyMessages from './gen/mex/contract/duchy_pb.ts';
export * as shareShuffle from './gen/mex/contract/share_shuffle_pb.ts';
export {
  camelCase,
  decode,
  isObject,
  join,
  type Keywords,
  MAX_VIOLATIONS,
  type NativeObject,
  type NativeValue,
} from './json/codec.ts';
export {
  JsonDecimal,
  type JsonObject,
  type JsonValue,
  MAX_BODY_VALUES,
  parseJson,
  parseJsonBytes,
  toPlainJson,
} from './json/json.ts';
export { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, type Static, type TSchema } from './json/schema.ts';
export { canonicalJson, exactJson, JsonText, toJson, toJsonChunks, toJsonParts } from './json/writer.ts';
export { openApiDocument } from './openapi/document.ts';
export type {
  JsonSchema,
  OpenApiDocument,
  OpenApiOperation,
  OpenApiParameter,
  OpenApiResponse,
} from './openapi/types.ts';
export { liquidLegionsViolations, ringOf, signedLegionsTerms } from './protocols/liquidLegionsConfig.ts';
export {
  knownRegisterCount,
  type LiquidLegionsProtocol,
  legionsNoiseRegisterCount,
  legionsNoiseShapes,
  legionsNoiseTupleCount,
  legionsRegisterCount,
  MAX_LEGIONS_NOISE,
  MAX_LEGIONS_REGISTERS,
} from './protocols/liquidLegionsLimits.ts';
export { type ProtocolStep, stepsOf } from './protocols/protocolSteps.ts';
export {
  MAX_NOISE_REGISTERS,
  MAX_SHUFFLED,
  MIN_MPC_EPSILON,
  type MpcNoiseShape,
  mpcNoiseOffset,
  NOISE_WORKERS,
  noiseRegisterCount,
  SHARE_SHUFFLE_NOISE,
  sampledRegisters,
} from './protocols/shareShuffle.ts';
export { errorsOf } from './requests/errors.ts';
export { type NativeRequest, readNativeRequest } from './requests/native.ts';
export {
  querySchemaOf,
  type RequestOf,
  type ResponseOf,
  readRequest,
  takesRequestId,
} from './requests/request.ts';
export { formatPath, type Match, matchRoute } from './requests/router.ts';
export { MAX_WAIT_SECONDS } from './routes/changes.ts';
export type { Body, PrincipalKind, Route } from './routes/route.ts';
export { API_PREFIX, type Operation, type ParamsOf, ROUTES, type RouteOf, type Routes } from './routes.ts';
export { decodeMeasurementSpec, type PlainSpec, type PrivacyParams } from './specs/measurementSpec.ts';
export { measurementSpecViolations, wrapsAround } from './specs/measurementSpecViolations.ts';
export * as specs from './specs/messages.ts';
export { TYPE_URLS } from './specs/typeUrls.ts';
export { importedFirst, isWellKnownFile, readWellKnownFile, WELL_KNOWN_FILES } from './specs/wellKnown.ts';
export { readMessage, readWire, type WireLimits } from './specs/wire.ts';
export { hostOf, isLoopbackAddress, isPublicAddress, isPublicHost } from './values/address.ts';
export { isAttributeName } from './values/attributeNames.ts';
export { cut } from './values/cut.ts';
export {
  formatName,
  isId,
  isName,
  mapRootPath,
  PARTY_COLLECTIONS,
  PATTERNS,
  type PartyCollection,
  type PartyName,
  type PatternName,
  PREFERRED,
  parseName,
  parsePartyName,
  splitRoot,
  WILDCARD,
  wordsOf,
} from './values/names.ts';
export {
  equalBytes,
  fromBase64,
  fromHex,
  MAX_UINT64,
  noncePreimages,
  parseTimestamp,
  type Timestamp,
  timestampOf,
  toBase64,
} from './values/scalars.ts';
export {
  CAPABILITIES,
  type Capability,
  COMPUTATION_STATES,
  type ComputationState,
  DUCHY_ROLES,
  type DuchyRole,
  FAILURE_REASONS,
  type FailureReason,
  isTerminal,
  MEASUREMENT_STATES,
  MEASUREMENT_TYPES,
  type MeasurementState,
  type MeasurementType,
  MPC_NOISE_MECHANISMS,
  type MpcNoiseMechanism,
  PENDING_COMPUTATION_STATES,
  PENDING_MEASUREMENT_STATES,
  PROTOCOLS,
  type Protocol,
  REFUSAL_JUSTIFICATIONS,
  REPORT_STATES,
  REQUISITION_STATES,
  REVOCATION_STATES,
  type RefusalJustification,
  type ReportState,
  type RequisitionState,
  type RevocationState,
  TERMINAL_MEASUREMENT_STATES,
  TERMINAL_REQUISITION_STATES,
} from './values/states.ts';
