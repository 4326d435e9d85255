/** Clients of the API: one interface, over HTTP or in process, and the informers, work queues and events built on it. */

export { BoundedMap } from './bounded-map.ts'
export {
  type CausePage,
  type CauseQuery,
  type CauseSelection,
  type CauseSource,
  httpCauses,
  readCauses,
  readChain,
} from './causes.ts'
export {
  type ApplyConfiguration,
  type ApplyOptions,
  type Client,
  type DeleteOptions,
  type GetOptions,
  type ListOptions,
  metadataOf,
  type ObjectKey,
  type Patch,
  type PatchType,
  type Watch,
  type WatchEvent,
  type WatchOptions,
  type WriteOptions,
} from './client.ts'
export { connect } from './connect.ts'
export {
  credentialHeaders,
  type Impersonation,
  type TlsParts,
  tlsOptionsOf,
  withPresentTls,
} from './connection-credentials.ts'
export { ConnectionError, ConnectionLink } from './connection-link.ts'
export { type DiscoveredResource, discoverResources } from './discovery.ts'
export {
  createEventRecorder,
  type EventApi,
  type EventDetails,
  type EventRecorder,
  type EventTarget,
  type EventType,
} from './event-recorder.ts'
export type { ExchangeEvent, ShownHeaders } from './exchange-trace.ts'
export {
  createHttpClient,
  createRestClient,
  type HttpClient,
  type HttpClientOptions,
  tableAccept,
} from './http-client.ts'
export {
  isUnreachableServer,
  type RawRequest,
  type RawResponse,
  type ResponseBody,
  responseBytesMax,
  type Transport,
  type TransportOptions,
  type UnreachableServerError,
} from './http-transport.ts'
export { type Aggregate, byController, controllerIndexName, type IndexFunction } from './indexed-store.ts'
export { createInformer, type Informer, type InformerHandler, type InformerOptions } from './informer.ts'
export { type CacheOptions, createInformerFactory, type InformerFactory } from './informer-factory.ts'
export { type ClientCall, type Interceptor, interceptClient } from './intercepted-client.ts'
export {
  type Connection,
  connectionOf,
  inClusterConnection,
  type Kubeconfig,
  loadKubeconfig,
  parseKubeconfig,
  readKubeconfigDocuments,
  UnknownChoiceError,
} from './kubeconfig.ts'
export {
  isFields,
  type KubeconfigDocument,
  type KubeconfigEntry,
  type KubeconfigFields,
  type KubeconfigList,
  kubeconfigLists,
  mergeKubeconfigDocuments,
  parseKubeconfigDocument,
  readKubeconfigDocument,
} from './kubeconfig-document.ts'
export { KubeconfigEdit, type KubeconfigPart } from './kubeconfig-edit.ts'
export { createLeaderElector, type LeaderElectionOptions, type LeaderElector } from './leader-election.ts'
export { keyOf, keyText, objectKeyOf, splitKey } from './object-key.ts'
export type { PluginPolicy } from './plugin-policy.ts'
export {
  bucketRateLimiter,
  defaultRateLimiter,
  exponentialRateLimiter,
  type RateLimiter,
  slowestRateLimiter,
} from './rate-limiter.ts'
export { RequestTimeoutError } from './request-time-limit.ts'
export { collectionPath, objectPath, type Query, withQuery } from './resource-path.ts'
export { retryOnConflict } from './retry.ts'
export { routeClient } from './routed-client.ts'
export { type Scope, scopeMatcher } from './scope.ts'
export { serverError } from './server-error.ts'
export { tlsFiles, tlsOf } from './tls-files.ts'
export { joinStreams, tunnelNodeHeader } from './tunnels.ts'
export { compareVersions, isComparableVersion, newerVersion } from './versions.ts'
export {
  createWorkQueue,
  type Priority,
  type WaitOptions,
  type WorkQueue,
  type WorkQueueOptions,
} from './work-queue.ts'
