import {
  dnsServiceKey,
  formatIp,
  hasReason,
  parseCidr,
  type Service,
  serviceCidrs,
  services,
  sizeOfRange,
} from '@coracle/api'
import type { Client } from '@coracle/client'
import { type Environment, sleep } from '@coracle/environment'

/** Which address of the range of services it has, where that is free: the tenth, as kubeadm gives it. */
const addressNumber = 10n

const because = 'pods of a node have networks of their own, and look names up by this Service'

/** Waits between attempts to make it: they double from the first to the last. */
export const retryFirstMs = 1000
export const retryMaxMs = 60_000

/** Makes the Service as soon as that can be done, unless the signal is aborted before. What stands in the way is logged. */
export async function makeDnsService(client: Client, environment: Environment, signal: AbortSignal): Promise<void> {
  const { clock, logger } = environment
  for (let waitMs = retryFirstMs; !signal.aborted; waitMs = Math.min(waitMs * 2, retryMaxMs)) {
    try {
      await ensureDnsService(client)
      return
    } catch (error) {
      if (signal.aborted) return
      logger.warn('the Service for names of the cluster was not made', { error: String(error) })
      await sleep(clock, waitMs, signal).catch(() => {})
    }
  }
}

/**
 * Makes the Service, where there is none. What is there already stays: somebody's own server is behind it, or to be. Others, such as a CoreDNS of
 * upstream's manifests, are found behind it by their label. Rejects as the API does.
 */
export async function ensureDnsService(client: Client): Promise<void> {
  try {
    await client.get(services, dnsServiceKey)
    return
  } catch (error) {
    if (!hasReason(error, 'NotFound')) throw error
  }
  const address = await usualAddress(client)
  try {
    await client.create(services, dnsService(address), { because })
  } catch (error) {
    if (hasReason(error, 'AlreadyExists')) return
    // Another service has it.
    if (address === undefined || !hasReason(error, 'Invalid')) throw error
    await client.create(services, dnsService(undefined), { because }).catch((again: unknown) => {
      if (!hasReason(again, 'AlreadyExists')) throw again
    })
  }
}

function dnsService(clusterIP: string | undefined): Service {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      ...dnsServiceKey,
      labels: {
        'k8s-app': 'kube-dns',
        'kubernetes.io/cluster-service': 'true',
        'kubernetes.io/name': 'CoreDNS',
      },
    },
    spec: {
      ...(clusterIP === undefined ? {} : { clusterIP }),
      selector: { 'k8s-app': 'kube-dns' },
      ports: [
        { name: 'dns', port: 53, protocol: 'UDP', targetPort: 53 },
        { name: 'dns-tcp', port: 53, protocol: 'TCP', targetPort: 53 },
      ],
    },
  }
}

/** Undefined where the range is too small, or there is none. */
async function usualAddress(client: Client): Promise<string | undefined> {
  const { items } = await client.list(serviceCidrs)
  const first = items.find(({ metadata }) => metadata.name === 'kubernetes') ?? items[0]
  const range = parseCidr(first?.spec?.cidrs?.[0] ?? '')
  // The last address of a range of IPv4 is for all.
  if (range === undefined || sizeOfRange(range) <= addressNumber + 1n) return undefined
  return formatIp({ family: range.family, value: range.base + addressNumber })
}
