import type { KubernetesObject } from '@coracle/api'
import { seededRandom } from '@coracle/environment'
import { Draw } from './draw.ts'
import type { Operation, Request, Target } from './operation.ts'

/** How often a scenario has pods that take devices. */
const devicesShare = 0.15
/** More than there are pods, those that go included: the first that is free is taken, so that mistakes meet at it. */
const devicesCount = 24
const replicasMax = 4
const requestsMax = 6

const resource = (kind: string, metadata: object, spec: object): KubernetesObject =>
  ({ apiVersion: 'resource.k8s.io/v1', kind, metadata, spec }) as unknown as KubernetesObject

const driver = 'device.example.dev'
/** The namespace that stays, so that what pods refer to is there in the end. */
const namespace = 'default'
const workload: Target = { kind: 'ReplicaSet', namespace, name: 'devices' }
const shared: Target = { kind: 'ResourceClaim', namespace, name: 'shared' }
const request = { devices: { requests: [{ name: 'device', exactly: { deviceClassName: 'device' } }] } }

/** What pods that take devices wait for. */
export const deviceOffers: readonly KubernetesObject[] = [
  resource('DeviceClass', { name: 'device' }, { selectors: [{ cel: { expression: `device.driver == "${driver}"` } }] }),
  resource(
    'ResourceSlice',
    { name: 'devices' },
    {
      driver,
      allNodes: true,
      pool: { name: 'all', generation: 1, resourceSliceCount: 1 },
      devices: Array.from({ length: devicesCount }, (_, index) => ({ name: `device${index}` })),
    },
  ),
  resource('ResourceClaimTemplate', { name: 'own', namespace }, { spec: request }),
  resource('ResourceClaim', { name: 'shared', namespace }, request),
]

/** Pods that take a device each, and one of which all have a part. */
function claimants(draw: Draw): KubernetesObject {
  const labels = { app: workload.name }
  const claims = [
    { name: 'own', resourceClaimTemplateName: 'own' },
    ...(draw.chance(0.5) ? [{ name: 'shared', resourceClaimName: 'shared' }] : []),
  ]
  const containers = [
    { name: 'main', image: 'example/web:1', resources: { claims: claims.map(({ name }) => ({ name })) } },
  ]
  const template = { metadata: { labels }, spec: { containers, resourceClaims: claims } }
  const spec = { replicas: 1 + draw.below(replicasMax), selector: { matchLabels: labels }, template }
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name: workload.name, namespace },
    spec,
  } as unknown as KubernetesObject
}

/**
 * A scenario's operations with those of pods that take devices among them. They are drawn from a source of their own, so that a seed
 * without them is what it is without all this.
 */
export function withDevices(seed: number, operations: readonly Operation[]): readonly Operation[] {
  const draw = new Draw(seededRandom(seed).fork('devices'))
  if (!draw.chance(devicesShare)) return operations
  const lastMs = operations.at(-1)?.atMs ?? 0
  const make = (): Request => ({ type: 'create', object: claimants(draw) })
  const choices: readonly (() => Request)[] = [
    () => ({ type: 'scale', target: workload, replicas: draw.below(replicasMax + 1) }),
    () => ({ type: 'scale', target: workload, replicas: draw.below(replicasMax + 1) }),
    () => ({ type: 'delete-pod', pick: draw.below(1000) / 1000 }),
    () => ({ type: 'delete', target: workload, propagationPolicy: draw.of(['Background', 'Foreground']) }),
    () => ({ type: 'touch', target: shared }),
    make,
  ]
  const added: readonly Operation[] = [
    ...deviceOffers.map((object): Operation => ({ atMs: 0, type: 'create', object })),
    { atMs: 0, ...make() },
    ...Array.from({ length: draw.below(requestsMax + 1) }, () => ({
      atMs: draw.below(lastMs + 1),
      ...draw.of(choices)(),
    })),
  ]
  return [...operations, ...added].toSorted((a, b) => a.atMs - b.atMs)
}
