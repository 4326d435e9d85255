import { type Random, seededRandom } from '@coracle/environment'
import type { CrashingComponent, Operation } from './operation.ts'
import { type WorkloadKind, type WorkloadShape, workloadKinds } from './workloads.ts'

/** What happens in one run. The seed gives the cluster its randomness too. */
export interface Scenario {
  readonly seed: number
  readonly nodes: number
  /** In the order of their times. */
  readonly operations: readonly Operation[]
}

export interface ScenarioOptions {
  /** Operations in a scenario, at most; 30 by default. */
  readonly operationsMax?: number
  /** Whether things fail; by default in two of three scenarios. */
  readonly faults?: boolean
}

const nodesMax = 4
const workloadsMax = 4
const replicasMax = 6
/** Operations follow each other within this time. */
const pauseMaxMs = 20_000
const images = ['example/web:1', 'example/web:2', 'example/web:3']
const components: readonly CrashingComponent[] = ['apiserver', 'kube-controller-manager', 'kube-scheduler']

/** The scenario of a seed: always the same. */
export function scenarioOf(seed: number, { operationsMax = 30, faults }: ScenarioOptions = {}): Scenario {
  const draw = new Draw(seededRandom(seed).fork('scenario'))
  const hasFaults = faults ?? draw.chance(2 / 3)
  const nodes = 1 + draw.below(nodesMax)
  const shapes = Array.from({ length: 1 + draw.below(workloadsMax) }, (_, index) =>
    shapeOf(draw, `w${index}`, draw.of(workloadKinds)),
  )
  const operations: Operation[] = []
  let atMs = 0
  for (const shape of shapes) operations.push({ atMs, type: 'create', shape })
  const count = 3 + draw.below(Math.max(1, operationsMax - 3))
  for (let index = 0; index < count; index++) {
    atMs += draw.chance(0.3) ? 0 : draw.below(pauseMaxMs)
    operations.push({ atMs, ...happening(draw, shapes, nodes, hasFaults) } as Operation)
  }
  return { seed, nodes, operations }
}

function shapeOf(draw: Draw, name: string, kind: WorkloadKind): WorkloadShape {
  return { kind, name, replicas: draw.below(replicasMax), image: draw.of(images), options: optionsOf(draw, kind) }
}

function optionsOf(draw: Draw, kind: WorkloadKind): Readonly<Record<string, unknown>> {
  const minReadySeconds =
    draw.chance(0.3) && kind !== 'ReplicationController' ? { minReadySeconds: draw.below(15) } : {}
  switch (kind) {
    case 'Deployment':
      return {
        ...minReadySeconds,
        strategy: draw.chance(0.2) ? { type: 'Recreate' } : { type: 'RollingUpdate', rollingUpdate: limits(draw) },
      }
    case 'StatefulSet':
      return {
        ...minReadySeconds,
        serviceName: 'web',
        podManagementPolicy: draw.of(['OrderedReady', 'Parallel']),
        updateStrategy: draw.chance(0.2)
          ? { type: 'OnDelete' }
          : { type: 'RollingUpdate', rollingUpdate: { partition: draw.below(2) } },
      }
    case 'DaemonSet':
      return {
        ...minReadySeconds,
        updateStrategy: draw.chance(0.2)
          ? { type: 'OnDelete' }
          : {
              type: 'RollingUpdate',
              rollingUpdate: draw.chance(0.5)
                ? { maxUnavailable: 0, maxSurge: 1 }
                : { maxUnavailable: 1 + draw.below(2), maxSurge: 0 },
            },
      }
    default:
      return minReadySeconds
  }
}

function limits(draw: Draw): { readonly maxSurge: number | string; readonly maxUnavailable: number | string } {
  const maxSurge = draw.of([0, 1, 2, '25%', '50%'])
  return { maxSurge, maxUnavailable: maxSurge === 0 ? draw.of([1, 2, '50%']) : draw.of([0, 1, '25%']) }
}

type Happening = Operation extends infer O ? (O extends Operation ? Omit<O, 'atMs'> : never) : never

function happening(draw: Draw, shapes: readonly WorkloadShape[], nodes: number, hasFaults: boolean): Happening {
  if (hasFaults && draw.chance(0.35)) return fault(draw, nodes)
  const { kind, name } = draw.of(shapes)
  const shape = shapeOf(draw, name, kind)
  return draw.of<() => Happening>([
    () => ({ type: 'scale', kind, name, replicas: draw.below(replicasMax) }),
    () => ({ type: 'scale', kind, name, replicas: draw.below(replicasMax) }),
    () => ({ type: 'set-image', kind, name, image: draw.of(images) }),
    () => ({ type: 'set-image', kind, name, image: draw.of(images) }),
    () => ({ type: 'pause', name, paused: draw.chance(0.5) }),
    () => ({ type: 'delete-pod', pick: draw.next(), ...(draw.chance(0.3) ? { gracePeriodSeconds: 0 } : {}) }),
    () => ({ type: 'relabel-pod', pick: draw.next() }),
    () => ({ type: 'evict-pod', pick: draw.next() }),
    () => ({ type: 'touch', kind, name }),
    () => ({ type: 'cordon', pick: draw.next(), isCordoned: draw.chance(0.5) }),
    () => ({ type: 'delete', kind, name, propagationPolicy: draw.of(['Background', 'Foreground', 'Orphan']) }),
    () => ({ type: 'create', shape }),
    () => ({ type: 'create', shape }),
  ])()
}

function fault(draw: Draw, nodes: number): Happening {
  const forMs = 1 + draw.below(60_000)
  return draw.of<() => Happening>([
    () => ({ type: 'crash', component: draw.of(components), forMs }),
    () => ({ type: 'crash-node', node: draw.below(nodes), forMs: forMs * (draw.chance(0.3) ? 10 : 1) }),
    () => ({ type: 'bad-network', probability: draw.of([0.05, 0.2]), forMs }),
  ])()
}

/** Choices by a random source. */
class Draw {
  readonly #random: Random

  constructor(random: Random) {
    this.#random = random
  }

  next(): number {
    return this.#random.next()
  }

  chance(probability: number): boolean {
    return this.#random.next() < probability
  }

  /** A whole number from 0 on, less than `limit`. */
  below(limit: number): number {
    return Math.floor(this.#random.next() * limit)
  }

  of<T>(values: readonly T[]): T {
    return values[this.below(values.length)] as T
  }
}
