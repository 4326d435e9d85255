import type { Clock, MetricsRegistry } from '@coracle/environment'
import { endOf } from '../certificate-keeper.ts'

/** The certificates of a node as of now, as PEM; undefined where it has none. */
export interface NodeCertificates {
  readonly client: () => string | undefined
  readonly server: () => string | undefined
}

/** Shows among `metrics`, under upstream's names, for how long the certificates of a node are still valid. */
export function measureCertificates(metrics: MetricsRegistry, clock: Clock, certificates: NodeCertificates): void {
  const gauge = (side: string, help: string) =>
    metrics.gauge({ name: `kubelet_certificate_manager_${side}_ttl_seconds`, help }).with({})
  const client = gauge(
    'client',
    'For how many seconds the certificate that the node shows is still good: +Inf where it has none.',
  )
  const server = gauge(
    'server',
    'For how many seconds the certificate that the node serves with is still good: +Inf where it has none.',
  )
  const secondsLeft = (certificatePem: string | undefined): number =>
    certificatePem === undefined ? Number.POSITIVE_INFINITY : (endOf(certificatePem) - clock.now()) / 1000
  metrics.onCollect(() => {
    client.set(secondsLeft(certificates.client()))
    server.set(secondsLeft(certificates.server()))
  })
}
