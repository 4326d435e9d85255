import { createHash } from 'node:crypto'
import { formatMicroTime, hasReason, type Lease, leases, parseTime } from '@coracle/api'
import type { Client } from '@coracle/client'
import type { Environment, Timer } from '@coracle/environment'
import { storedObjects } from '../admission/stored-objects.ts'
import type { Registries } from '../registries.ts'

/** How often a server says that it is there, and how long what it says holds (upstream's times). */
export const identityRenewIntervalMs = 10_000
export const identityDurationSeconds = 3600

/** How often Leases of servers that are gone are looked for. */
export const identitySweepIntervalMs = 3_600_000

const namespace = 'kube-system'

/** By which Leases of servers are found, and the value of those that serve this API. */
export const identityLabel = 'apiserver.kubernetes.io/identity'
export const identityOfServers = 'kube-apiserver'

export interface IdentityParts {
  readonly registries: Registries
  readonly environment: Environment
  readonly client: Client
}

/** A server, told apart from others by where it runs: several may run on one machine. */
export interface ServerIdentity {
  readonly hostname: string
  readonly port: number
}

/** The name of a server's Lease, the same each time it starts. */
export function identityLeaseName({ hostname, port }: ServerIdentity): string {
  const digest = createHash('sha256').update(`${hostname}:${port}`).digest('hex')
  return `apiserver-${digest.slice(0, 26)}`
}

/**
 * Keeps a Lease that says that this server is there, and removes those of servers that have not renewed theirs for an hour, until the
 * returned function is called. Whoever has to know which servers there are reads them (https://kep.k8s.io/1965).
 */
export function keepIdentityLease(parts: IdentityParts, identity: ServerIdentity): () => void {
  const { environment } = parts
  const { clock, logger, random } = environment
  const holderIdentity = `${identityLeaseName(identity)}_${random.uuid()}`
  const timers = new Map<string, Timer>()
  let stopped = false
  const every = (name: string, intervalMs: number, work: () => Promise<void>): void => {
    const round = (): void => {
      work().catch((error: unknown) => {
        if (!stopped) logger.warn(`${name} failed`, { error: String(error) })
      })
      timers.set(name, clock.setTimer(intervalMs, round, { housekeeping: true }))
    }
    round()
  }
  every('renewing the lease of this server', identityRenewIntervalMs, () => renew(parts, identity, holderIdentity))
  every('removing leases of servers', identitySweepIntervalMs, () => sweep(parts))
  return () => {
    stopped = true
    for (const timer of timers.values()) timer.cancel()
  }
}

async function renew({ client, environment }: IdentityParts, identity: ServerIdentity, holder: string): Promise<void> {
  const name = identityLeaseName(identity)
  const lease: Lease = {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: {
      namespace,
      name,
      labels: {
        [identityLabel]: identityOfServers,
        ...(isLabelValue(identity.hostname) ? { 'kubernetes.io/hostname': identity.hostname } : {}),
      },
    },
    spec: {
      holderIdentity: holder,
      leaseDurationSeconds: identityDurationSeconds,
      renewTime: formatMicroTime(environment.clock.now()),
    },
  }
  try {
    // Nobody else writes it, but for one that takes it away.
    await client.patch(leases, { namespace, name }, { type: 'merge', body: lease })
  } catch (error) {
    if (!hasReason(error, 'NotFound')) throw error
    await client.create(leases, lease)
  }
}

async function sweep({ registries, client, environment }: IdentityParts): Promise<void> {
  const nowMs = environment.clock.now()
  for (const lease of storedObjects(registries, leases, namespace)) {
    const { uid = '', name = '', labels } = lease.metadata
    if (labels?.[identityLabel] !== identityOfServers || !isOver(lease, nowMs)) continue
    await client.delete(leases, { namespace, name }, { preconditions: { uid } }).catch((error: unknown) => {
      if (!hasReason(error, 'NotFound') && !hasReason(error, 'Conflict')) throw error
    })
  }
}

/** One without times says nothing, as upstream takes it. */
function isOver({ spec }: Lease, nowMs: number): boolean {
  const renewedMs = parseTime(spec?.renewTime ?? '')
  if (Number.isNaN(renewedMs) || spec?.leaseDurationSeconds === undefined) return true
  return renewedMs + spec.leaseDurationSeconds * 1000 < nowMs
}

/** The name of a host may be one that no label can have. */
const isLabelValue = (text: string): boolean => /^[a-z0-9]([-\w.]{0,61}[a-z0-9])?$/i.test(text)
