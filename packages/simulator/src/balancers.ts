import type { KubernetesObject } from '@coracle/api'
import { seededRandom } from '@coracle/environment'
import { Draw } from './draw.ts'
import { isScalable } from './kinds.ts'
import type { Operation, Request, Target } from './operation.ts'

/** How often a scenario has services that get addresses of nodes, and nodes that come and go. */
const balancersShare = 0.2
const balancersMax = 3
const requestsMin = 2
const requestsMax = 10
/** A node is gone for so long at most. */
const goneMaxMs = 120_000

/** The label of nodes that load balancers do not lead to. */
export const excludedLabel = 'node.kubernetes.io/exclude-from-external-load-balancers'
export const zoneLabel = 'topology.kubernetes.io/zone'

/** Few enough that services meet at one. */
const ports = [80, 81]

type LabelRequest = Extract<Request, { readonly type: 'label-node' }>

const portsOf = (draw: Draw) => ({ ports: [{ port: draw.of(ports), protocol: 'TCP' }] })

function balancerShape(draw: Draw, target: Target, app: string): KubernetesObject {
  const { namespace = '', name } = target
  const spec = {
    type: 'LoadBalancer',
    selector: { app },
    ...portsOf(draw),
    externalTrafficPolicy: draw.of(['Cluster', 'Cluster', 'Local']),
    ...(draw.chance(0.5) ? { trafficDistribution: draw.of(['PreferSameZone', 'PreferSameNode']) } : {}),
  }
  return { apiVersion: 'v1', kind: 'Service', metadata: { name, namespace }, spec } as KubernetesObject
}

/**
 * A scenario's operations with those of load balancers among them, that change and go, and of nodes that are left out, get zones and, where things fail,
 * are taken away for a while. They are drawn from a source of their own, so that a seed without them is what it is without all this.
 */
export function withBalancers(
  seed: number,
  {
    workloads,
    nodes,
    hasFaults,
  }: { readonly workloads: readonly Target[]; readonly nodes: number; readonly hasFaults: boolean },
  operations: readonly Operation[],
): readonly Operation[] {
  const draw = new Draw(seededRandom(seed).fork('load balancers'))
  if (!draw.chance(balancersShare)) return operations
  const apps = workloads.filter(({ kind }) => isScalable(kind) || kind === 'DaemonSet')
  if (apps.length === 0) return operations
  const lastMs = Math.max(60_000, operations.at(-1)?.atMs ?? 0)
  const balancers = Array.from({ length: 1 + draw.below(balancersMax) }, (_, index) => {
    const { namespace = '', name: app } = draw.of(apps)
    return { target: { kind: 'Service', namespace, name: `balancer${index}` } satisfies Target, app }
  })
  const label = (key: string, values: readonly (string | null)[]): LabelRequest => ({
    type: 'label-node',
    pick: draw.next(),
    label: key,
    value: draw.of(values),
  })
  const choices: readonly (() => Request)[] = [
    () => label(excludedLabel, ['true', null]),
    () => label(zoneLabel, ['a', 'b', null]),
    () => ({
      type: 'change',
      target: draw.of(balancers).target,
      spec: { externalTrafficPolicy: draw.of(['Cluster', 'Local']) },
    }),
    () => ({ type: 'change', target: draw.of(balancers).target, spec: portsOf(draw) }),
    () => ({
      type: 'change',
      target: draw.of(balancers).target,
      spec: draw.chance(0.5) ? { type: 'LoadBalancer' } : { type: 'ClusterIP', externalTrafficPolicy: null },
    }),
    () => ({ type: 'delete', target: draw.of(balancers).target, propagationPolicy: 'Background' }),
    () => {
      const { target, app } = draw.of(balancers)
      return { type: 'create', object: balancerShape(draw, target, app) }
    },
  ]
  const removals = hasFaults ? draw.below(3) : 0
  const added: readonly Operation[] = [
    // Each node has a zone at first: one without keeps proxies from going by zones.
    ...Array.from(
      { length: nodes },
      (_, index): Operation => ({ atMs: 0, ...label(zoneLabel, ['a', 'b']), pick: (index + 0.5) / nodes }),
    ),
    ...balancers.map(
      ({ target, app }): Operation => ({ atMs: 0, type: 'create', object: balancerShape(draw, target, app) }),
    ),
    ...Array.from({ length: requestsMin + draw.below(requestsMax) }, () => ({
      atMs: draw.below(lastMs),
      ...draw.of(choices)(),
    })),
    ...Array.from(
      { length: removals },
      (): Operation => ({
        atMs: draw.below(lastMs),
        type: 'remove-node',
        node: draw.below(nodes),
        forMs: 1 + draw.below(goneMaxMs),
      }),
    ),
    ...(draw.chance(0.6) ? [{ atMs: draw.below(lastMs), ...label(excludedLabel, ['true']) }] : []),
  ]
  return [...operations, ...added].toSorted((a, b) => a.atMs - b.atMs)
}
