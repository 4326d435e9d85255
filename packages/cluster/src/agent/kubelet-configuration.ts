import type { Taint } from '@coracle/api'

/** What of an agent's options upstream's configuration has fields for. */
export interface ConfiguredKubelet {
  readonly address: string
  readonly port: number
  readonly podsMax: number
  readonly taints: readonly Taint[]
  readonly manifestPath: string | undefined
  /** Whether the node's own certificate is renewed: that of a connection which was given is not. */
  readonly rotatesCertificates: boolean
}

/** What `/configz` shows, under upstream's names (kubelet.config.k8s.io/v1beta1). */
export const kubeletConfiguration = (configured: ConfiguredKubelet): Readonly<Record<string, unknown>> => ({
  kind: 'KubeletConfiguration',
  apiVersion: 'kubelet.config.k8s.io/v1beta1',
  address: configured.address,
  port: configured.port,
  maxPods: configured.podsMax,
  ...(configured.manifestPath === undefined ? {} : { staticPodPath: configured.manifestPath }),
  registerWithTaints: configured.taints,
  serverTLSBootstrap: true,
  rotateCertificates: configured.rotatesCertificates,
  authentication: { anonymous: { enabled: false }, webhook: { enabled: true, cacheTTL: '2m0s' } },
  authorization: { mode: 'Webhook', webhook: { cacheAuthorizedTTL: '5m0s', cacheUnauthorizedTTL: '30s' } },
  streamingConnectionIdleTimeout: '4h0m0s',
})
