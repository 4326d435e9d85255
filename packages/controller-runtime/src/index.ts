/** A runtime for controllers: describe one, give it to a manager, and keep to the contract of `Reconcile`. */
export { adoption, liveOwner, release } from './claims.ts'
export { type Condition, getCondition, isConditionTrue, removeCondition, setCondition } from './conditions.ts'
export {
  type ChangingSources,
  type Controller,
  type ControllerBuilder,
  type ControllerOptions,
  type ControllerStart,
  concurrentReconcilesDefault,
  controller,
  type RateLimiterFactory,
  type ResourceFeed,
  type Source,
  type SourceOptions,
} from './controller.ts'
export {
  applyFields,
  createOrPatch,
  createOrUpdate,
  type Ensured,
  type MergePatchOptions,
  mergePatch,
  type Operation,
  type Wanted,
} from './create-or-update.ts'
export {
  type CustomKind,
  type CustomKindOptions,
  type CustomVersionOptions,
  customKind,
  newObject,
  type ObjectOf,
} from './custom-kind.ts'
export { customKindsOf, customKindYaml } from './custom-kind-yaml.ts'
export type { Endpoint, EndpointOptions } from './endpoint.ts'
export { type EnsureOptions, ensureCustomKind } from './ensure-custom-kind.ts'
export { addFinalizer, finalizersPatch, hasFinalizer, isBeingDeleted, removeFinalizer } from './finalizers.ts'
export { type Channel, createChannel, type KeySource } from './key-source.ts'
export {
  type ControllerSetting,
  createManager,
  gracefulStopDefaultMs,
  type Manager,
  type ManagerOptions,
  type Runnable,
} from './manager.ts'
export { NewlySeen } from './newly-seen.ts'
export {
  AlreadyOwnedError,
  controlledBy,
  controllerOf,
  controllerRef,
  isControlledBy,
  removeOwnerReference,
  setControllerReference,
  setOwnerReference,
} from './owners.ts'
export { actionsParallelMax, performPlan } from './perform-plan.ts'
export type {
  Action,
  ActionRecord,
  ApplyAction,
  CreateAction,
  DeleteAction,
  EventAction,
  FailureEvent,
  PatchAction,
  Plan,
  RecordedObject,
  UpdateAction,
  WriteEvents,
} from './plan.ts'
export {
  allOf,
  annotationsChanged,
  anyOf,
  type Change,
  generationChanged,
  labelsChanged,
  not,
  type Predicate,
  resourceVersionChanged,
} from './predicates.ts'
export type { Lookup, Reconcile, ReconcileContext, Request, Requeue, Result } from './reconcile.ts'
export { runUntilSignal } from './run-until-signal.ts'
export {
  filedByLabels,
  filedBySelector,
  labelTerms,
  selected,
  selecting,
  selectorIndexName,
  selectorTerms,
} from './selector-index.ts'
export { isTerminal, TerminalError } from './terminal-error.ts'
export {
  type AdmissionOperation,
  type AdmissionRequest,
  type AdmissionWebhookOptions,
  Denial,
  deny,
  type Mutation,
  mutatingWebhook,
  type Verdict,
  validatingWebhook,
} from './webhooks/admission-webhook.ts'
export {
  type Certificate,
  type CertificateSource,
  certificateFiles,
  selfMadeCertificate,
} from './webhooks/certificates.ts'
export { conversionWebhook, type VersionConverter } from './webhooks/conversion-webhook.ts'
export {
  conversionOf,
  type EnsureWebhooksOptions,
  ensureWebhooks,
  type WebhookTarget,
} from './webhooks/ensure-webhooks.ts'
export type { Webhook, WebhookContext } from './webhooks/webhook.ts'
export { createWebhookServer, type WebhookServer, type WebhookServerOptions } from './webhooks/webhook-server.ts'
