import { seededRandom } from '@coracle/environment'
import { withAdditions, withJobMadeAnew, withTwoOwners } from './additions.ts'
import { withAppliers } from './applying/story.ts'
import { withBalancers } from './balancers.ts'
import { withDemands } from './demands.ts'
import { withDevices } from './devices.ts'
import { Draw } from './draw.ts'
import { isScalable, namespaceNames } from './kinds.ts'
import { withManifests } from './manifests.ts'
import {
  type CrashingComponent,
  type Direction,
  type Fault,
  nameOf,
  type Operation,
  type Request,
  type Target,
} from './operation.ts'
import {
  budgetShape,
  configShape,
  gadgetShape,
  imageOf,
  kindOf,
  namespaceOf,
  namespaceShape,
  quotaShape,
  replicasLimit,
  serviceShape,
  shapeOf,
  waitingJob,
} from './shapes.ts'

/** What happens in one run. The seed gives the cluster its randomness too. */
export interface Scenario {
  readonly seed: number
  /** Servers with one store; with two of them one at a time runs the controllers, and one the scheduler. */
  readonly servers: number
  readonly nodes: number
  /** By how much the clocks of some components are ahead. */
  readonly skewsMs: Readonly<Record<string, number>>
  /** In the order of their times. */
  readonly operations: readonly Operation[]
}

export interface ScenarioOptions {
  /** Operations in a scenario, at most; 30 by default. */
  readonly operationsMax?: number
  /** Whether things fail; by default in two of three scenarios. */
  readonly faults?: boolean
  /** Whether some workloads ask for what is rarely asked for; by default in two of five scenarios. */
  readonly demands?: boolean
}

const nodesMax = 4
const workloadsMax = 4
/** Operations follow each other within this time. */
const pauseMaxMs = 20_000
/** How far a component's clock is ahead of the others at most, or behind. */
export const skewMaxMs = 30_000
const components: readonly CrashingComponent[] = ['apiserver', 'kube-controller-manager', 'kube-scheduler']

/** Whose way to the server is made bad: the caches of all controllers, and those controllers that write what rules are about. */
const controllers = [
  'kube-controller-manager',
  'kube-controller-manager',
  'replicaset-controller',
  'deployment-controller',
  'statefulset-controller',
  'daemon-set-controller',
  'job-controller',
  'cronjob-controller',
  'replication-controller',
  'disruption-controller',
  'resourcequota-controller',
  'generic-garbage-collector',
  'node-controller',
]

/** What a scenario is drawn for. */
interface Cast {
  readonly servers: number
  readonly nodes: number
  readonly hasFaults: boolean
  /** What keeps pods. */
  readonly workloads: readonly Target[]
  readonly gadgets: readonly Target[]
}

/** The scenario of a seed: always the same. */
export function scenarioOf(
  seed: number,
  { operationsMax = 30, faults, demands: hasDemands = true }: ScenarioOptions = {},
): Scenario {
  const draw = new Draw(seededRandom(seed).fork('scenario'))
  const hasFaults = faults ?? draw.chance(2 / 3)
  const cast: Cast = {
    servers: hasFaults && draw.chance(0.2) ? 2 : 1,
    nodes: 1 + draw.below(nodesMax),
    hasFaults,
    workloads: Array.from({ length: 1 + draw.below(workloadsMax) }, (_, index) => ({
      kind: kindOf(draw),
      namespace: namespaceOf(draw),
      name: `w${index}`,
    })),
    gadgets: Array.from({ length: draw.chance(0.2) ? 1 + draw.below(2) : 0 }, (_, index) => ({
      kind: 'Gadget',
      namespace: namespaceOf(draw),
      name: `g${index}`,
    })),
  }
  const operations: Operation[] = opening(draw, cast).map((request) => ({ atMs: 0, ...request }))
  let atMs = 0
  const count = 3 + draw.below(Math.max(1, operationsMax - 3))
  for (let index = 0; index < count; index++) {
    atMs += draw.chance(0.3) ? 0 : draw.below(pauseMaxMs)
    operations.push({ atMs, ...(hasFaults && draw.chance(0.35) ? fault(draw, cast) : request(draw, cast)) })
  }
  const withJobs = withJobMadeAnew(seed, withAdditions(seed, cast.workloads, operations))
  const all = withDevices(seed, withTwoOwners(seed, withJobs))
  const demanding = hasDemands ? withDemands(seed, all) : all
  const balanced = hasDemands ? withBalancers(seed, cast, demanding) : demanding
  const played = hasDemands ? withManifests(seed, cast.nodes, withAppliers(seed, balanced)) : balanced
  return {
    seed,
    servers: cast.servers,
    nodes: cast.nodes,
    skewsMs: skews(draw, cast),
    operations: played,
  }
}

/** What there is before anything happens to it. */
function opening(draw: Draw, { workloads, gadgets }: Cast): readonly Request[] {
  const requests: Request[] = [{ type: 'create', object: namespaceShape(namespaceNames[1]) }]
  for (const target of workloads) requests.push(creation(draw, target, workloads))
  for (const { name, namespace = '' } of gadgets)
    requests.push({ type: 'create', object: gadgetShape(draw, name, namespace) })
  for (const { kind, name, namespace = '' } of workloads) {
    if (!isScalable(kind)) continue
    if (draw.chance(0.3)) requests.push({ type: 'create', object: budgetShape(draw, name, namespace) })
    if (draw.chance(0.2)) requests.push({ type: 'create', object: serviceShape(name, namespace) })
  }
  if (draw.chance(0.15)) requests.push({ type: 'create', object: quotaShape(draw.below(12), namespaceOf(draw)) })
  return requests
}

function creation(draw: Draw, { kind, name, namespace = '' }: Target, workloads: readonly Target[]): Request {
  const others = workloads.filter((each) => each.kind === 'Job' && each.namespace === namespace && each.name < name)
  if (kind !== 'Job' || others.length === 0 || draw.chance(0.5))
    return { type: 'create', object: shapeOf(draw, kind, name, namespace) }
  return {
    type: 'create',
    object: waitingJob(
      draw,
      name,
      namespace,
      others.map((each) => each.name),
    ),
  }
}

/** What the nodes of each server are called, with a number. */
export const nodePrefixes = ['node-', 'peer-'] as const

/** The name of a node: servers have them in turns. */
export const nodeName = (node: number, servers: number): string =>
  `${nodePrefixes[node % servers]}${Math.floor(node / servers)}`

function skews(draw: Draw, { hasFaults, nodes, servers }: Cast): Readonly<Record<string, number>> {
  if (!hasFaults || !draw.chance(0.25)) return {}
  const names = ['apiserver', ...controllers, ...Array.from({ length: nodes }, (_, index) => nodeName(index, servers))]
  const skewed = names.filter(() => draw.chance(0.3))
  return Object.fromEntries(skewed.map((name) => [name, draw.below(2 * skewMaxMs) - skewMaxMs]))
}

const propagationPolicies = ['Background', 'Foreground', 'Orphan'] as const

function request(draw: Draw, cast: Cast): Request {
  const target = draw.of(cast.workloads)
  const { kind, name, namespace = '' } = target
  const common: readonly (() => Request)[] = [
    ...forKind(draw, target),
    ...forKind(draw, target),
    () => ({ type: 'delete-pod', pick: draw.next(), ...(draw.chance(0.3) ? { gracePeriodSeconds: 0 } : {}) }),
    () => ({ type: 'relabel-pod', pick: draw.next() }),
    () => ({ type: 'evict-pod', pick: draw.next() }),
    () => ({ type: 'touch', target }),
    () => ({ type: 'cordon', pick: draw.next(), isCordoned: draw.chance(0.5) }),
    () => ({ type: 'drain', pick: draw.next() }),
    () => ({ type: 'taint', pick: draw.next(), effect: draw.of(['NoSchedule', 'NoExecute', undefined, undefined]) }),
    () => ({ type: 'delete', target, propagationPolicy: draw.of(propagationPolicies) }),
    () => creation(draw, target, cast.workloads),
    () => creation(draw, target, cast.workloads),
    () => rarer(draw, cast, { kind, name, namespace }),
    () => rarer(draw, cast, { kind, name, namespace }),
  ]
  return draw.of(common)()
}

/** What is asked of a workload of some kind. */
function forKind(draw: Draw, target: Target): readonly (() => Request)[] {
  const setImage = (): Request => ({ type: 'set-image', target, image: imageOf(draw) })
  const scale = (): Request => ({ type: 'scale', target, replicas: draw.below(replicasLimit) })
  switch (target.kind) {
    case 'Deployment':
      return [
        setImage,
        scale,
        () => ({ type: 'undo', target }),
        () => ({ type: 'change', target, spec: { paused: draw.chance(0.5) } }),
      ]
    case 'Job':
      return [
        () => ({ type: 'change', target, spec: { suspend: draw.chance(0.4) } }),
        () => ({ type: 'change', target, spec: { parallelism: draw.below(4) } }),
      ]
    case 'CronJob':
      return [
        () => ({ type: 'change', target, spec: { suspend: draw.chance(0.3) } }),
        () => ({ type: 'change', target, spec: { concurrencyPolicy: draw.of(['Allow', 'Forbid', 'Replace']) } }),
      ]
    case 'DaemonSet':
      return [setImage]
    default:
      return [setImage, scale]
  }
}

function rarer(draw: Draw, { gadgets, workloads }: Cast, target: Target): Request {
  const { name, namespace = '' } = target
  const gadget = gadgets[0]
  const choices: (() => Request)[] = [
    () => ({ type: 'create', object: quotaShape(draw.below(12), namespace) }),
    () => ({
      type: 'change',
      target: { kind: 'ResourceQuota', namespace, name: 'quota' },
      spec: { hard: { pods: String(draw.below(12)) } },
    }),
    () => ({
      type: 'delete',
      target: { kind: 'ResourceQuota', namespace, name: 'quota' },
      propagationPolicy: 'Background',
    }),
    () => ({
      type: 'delete',
      target: { kind: 'Namespace', name: namespaceNames[1] },
      propagationPolicy: 'Background',
    }),
    () => ({ type: 'create', object: namespaceShape(namespaceNames[1]) }),
    () => ({ type: 'create', object: budgetShape(draw, name, namespace) }),
    () => ({ type: 'create', object: serviceShape(name, namespace) }),
    () => ({
      type: 'create',
      object: configShape(`c${draw.below(3)}`, namespace),
      owners: ownersIn(draw, [...workloads, ...gadgets], namespace),
    }),
  ]
  if (gadget !== undefined) {
    const own = gadget.namespace ?? ''
    choices.push(
      () => ({ type: 'release', target: gadget }),
      () => ({ type: 'delete', target: gadget, propagationPolicy: draw.of(propagationPolicies) }),
      () => ({ type: 'create', object: gadgetShape(draw, gadget.name, own), owners: ownersIn(draw, workloads, own) }),
    )
  }
  return draw.of(choices)()
}

/** One or two of these as owners. */
function ownersIn(draw: Draw, targets: readonly Target[], namespace: string) {
  const near = targets.filter((target) => target.namespace === namespace)
  const picked = near.length === 0 ? [] : [draw.of(near), ...(draw.chance(0.3) ? [draw.of(near)] : [])]
  const unique = new Map(picked.map((target) => [nameOf(target), target]))
  return [...unique.values()].map((target) => ({ ...target, blockOwnerDeletion: draw.chance(0.5) }))
}

function fault(draw: Draw, { servers, nodes }: Cast): Fault {
  const forMs = 1 + draw.below(60_000)
  const server = draw.below(servers)
  const node = draw.below(nodes)
  const placed = () =>
    draw.chance(0.3)
      ? { server: node % servers, component: nodeName(node, servers) }
      : { server, component: draw.chance(0.3) ? 'kube-scheduler' : draw.of(controllers) }
  const choices: (() => Fault)[] = [
    () => ({ type: 'crash', server, component: draw.of(components), forMs }),
    () => ({ type: 'crash-at-write', server, writes: 1 + draw.below(20), takesEffect: draw.chance(0.5), forMs }),
    () => ({ type: 'hand-over', server, component: draw.of(components.slice(1)) }),
    () => ({ type: 'crash-node', node, forMs: forMs * (draw.chance(0.3) ? 10 : 1) }),
    () => ({ type: 'bad-network', probability: draw.of([0.05, 0.2]), forMs }),
    () => ({ type: 'partition', ...placed(), direction: draw.of<Direction>(['requests', 'answers', 'both']), forMs }),
    () => ({ type: 'lag', ...placed(), delayMs: draw.of([200, 1000, 5000]), forMs }),
  ]
  if (servers > 1) {
    const ofStore: (() => Fault)[] = [
      () => ({ type: 'cut-store', server, forMs }),
      () => ({ type: 'lag-store', server, forMs: Math.ceil(forMs / 4) }),
    ]
    choices.push(...ofStore, ...ofStore)
  }
  return draw.of(choices)()
}
