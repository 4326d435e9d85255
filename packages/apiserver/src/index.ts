/** The Kubernetes API server: one write path, one read path. */
export type { AdmissionAttributes, AdmissionOperation, AdmissionPlugin, Reinvocation } from './admission/admission.ts'
export { frontProxyUser } from './aggregation/front-proxy.ts'
export { type ApiCore, type ApiCoreOptions, createApiCore } from './api-core.ts'
export { apiServerUser } from './api-server-user.ts'
export type { CausesPage, CausesQuery } from './causes/causal-record.ts'
export type { OnUnexplained } from './causes/cause-recorder.ts'
export { countCertificateDurations } from './certificate-durations.ts'
export { publishAuthentication } from './housekeeping/authentication-config.ts'
export { publishClusterInfo } from './housekeeping/cluster-info.ts'
export * from './http/index.ts'
export type { ServerAddress } from './kubernetes-service/plan.ts'
export type { NodeAgent, NodeGateway } from './node-gateway.ts'
export { collectObjectCounts } from './object-counts.ts'
export type { Registries } from './registries.ts'
export type {
  DeleteResult,
  Page,
  Registry,
  RegistryWatch,
  RegistryWriteOptions,
  Stored,
  WatchDelivery,
  WriteResult,
} from './registry-contract.ts'
export type { Authorizer, RequestAttributes, RequestContext, User } from './request.ts'
export * from './security/index.ts'
export type { SecretTokenSubject } from './service-account-tokens/secret-token-claims.ts'
export type { DroppedField, RefusedObject, StateReport, UnknownKind } from './state/state-report.ts'
export { StateWriter } from './state/state-writer.ts'
export { storedObjects } from './state/stored-objects.ts'
export { collectStoreSize } from './store-size.ts'
export type { Subresource, SubresourceResult } from './subresources/subresource.ts'
