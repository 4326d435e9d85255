import { seededRandom } from '@coracle/environment'
import { Draw } from './draw.ts'
import { isScalable } from './kinds.ts'
import { nameOf, type Operation, type Request, type Target } from './operation.ts'
import {
  autoscalerBounds,
  autoscalerShape,
  type ClaimPolicy,
  claimShape,
  configShape,
  namespaceOf,
  shapeOf,
  volumeShape,
  waitingJob,
  withClaims,
} from './shapes.ts'

/** How often a scenario has autoscalers or volumes. */
const additionsShare = 0.5
const volumesMax = 3
/** Requests to each autoscaler and each volume, at most. */
const requestsMax = 6
/** A Job is made anew within this time. */
const remakeMaxMs = 20_000

/**
 * A scenario's operations with those of autoscalers and volumes among them, and with claims for some stateful sets. They are drawn from a
 * source of their own, so that a seed without them is what it is without all this.
 */
export function withAdditions(
  seed: number,
  workloads: readonly Target[],
  operations: readonly Operation[],
): readonly Operation[] {
  const draw = new Draw(seededRandom(seed).fork('autoscalers and volumes'))
  if (!draw.chance(additionsShare)) return operations
  const lastMs = lastOf(operations)
  const claims = claimPolicies(draw, workloads)
  const claimants = workloads.filter((target) => claims.has(nameOf(target)))
  const added = [
    ...autoscalers(draw, workloads, lastMs),
    ...volumes(draw, lastMs),
    ...claimants.flatMap((set) => later(draw, [() => claimDeletion(draw, set)], lastMs)),
  ]
  const all = [...operations.map((each) => claiming(each, claims)), ...added]
  return all.toSorted((a, b) => a.atMs - b.atMs)
}

const lastOf = (operations: readonly Operation[]): number => operations.at(-1)?.atMs ?? 0

/** Autoscalers come after what they scale, and change and go as time passes; so does the load. */
function autoscalers(draw: Draw, workloads: readonly Target[], lastMs: number): readonly Operation[] {
  return workloads
    .filter(({ kind }) => isScalable(kind) && draw.chance(0.7))
    .flatMap((workload): Operation[] => {
      const target: Target = { ...workload, kind: 'HorizontalPodAutoscaler', name: `${workload.name}-scaler` }
      const create = (): Request => ({ type: 'create', object: autoscalerShape(draw, workload) })
      const choices: readonly (() => Request)[] = [
        () => ({ type: 'load', target: workload, mebibytes: draw.of([0, 20, 100, 150, 400]) }),
        () => ({ type: 'load', target: workload, mebibytes: draw.of([0, 20, 100, 150, 400]) }),
        () => ({ type: 'change', target, spec: autoscalerBounds(draw) }),
        () => ({ type: 'delete', target, propagationPolicy: 'Background' }),
        create,
      ]
      return [{ atMs: 0, ...create() }, ...later(draw, choices, lastMs)]
    })
}

/** Volumes and claims that somebody makes by hand find each other, and go. */
function volumes(draw: Draw, lastMs: number): readonly Operation[] {
  if (draw.chance(0.5)) return []
  const names = Array.from({ length: 1 + draw.below(volumesMax) }, (_, index) => index)
  return names.flatMap((index): Operation[] => {
    const namespace = namespaceOf(draw)
    const volume: Target = { kind: 'PersistentVolume', name: `v${index}` }
    const claim: Target = { kind: 'PersistentVolumeClaim', namespace, name: `claim${index}` }
    const choices: readonly (() => Request)[] = [
      () => ({ type: 'create', object: volumeShape(draw, volume.name) }),
      () => ({ type: 'create', object: claimShape(draw, claim.name, namespace) }),
      () => ({ type: 'delete', target: draw.of([volume, claim]), propagationPolicy: 'Background' }),
      () => ({ type: 'touch', target: draw.of([volume, claim]) }),
    ]
    return [...choices.slice(0, 2).map((each) => ({ atMs: 0, ...each() })), ...later(draw, choices, lastMs)]
  })
}

/** How often a scenario has a Job that waits for one which is made anew. */
const jobMadeAnewShare = 0.15

/**
 * A scenario's operations with those of two Jobs among them, one of which waits for the other, and is over or not by the time that
 * the other is made anew. They are drawn from a source of their own, too.
 */
export function withJobMadeAnew(seed: number, operations: readonly Operation[]): readonly Operation[] {
  const draw = new Draw(seededRandom(seed).fork('a Job made anew'))
  if (!draw.chance(jobMadeAnewShare)) return operations
  const lastMs = lastOf(operations)
  const namespace = namespaceOf(draw)
  const [first, second] = (['first', 'second'] as const).map((name): Target => ({ kind: 'Job', namespace, name }))
  if (first === undefined || second === undefined) return operations
  const make = (): Request => ({ type: 'create', object: shapeOf(draw, 'Job', first.name, namespace) })
  const wait = (): Request => ({ type: 'create', object: waitingJob(draw, second.name, namespace, [first.name]) })
  const goneMs = draw.below(lastMs + 1)
  const added: readonly Operation[] = [
    { atMs: 0, ...make() },
    { atMs: 0, ...wait() },
    { atMs: goneMs, type: 'delete', target: first, propagationPolicy: draw.of(['Background', 'Foreground']) },
    { atMs: goneMs + draw.below(remakeMaxMs), ...make() },
    ...later(draw, [make, wait, () => ({ type: 'touch', target: draw.of([first, second]) })], lastMs),
  ]
  return [...operations, ...added].toSorted((a, b) => a.atMs - b.atMs)
}

/** How often a scenario has an object of two owners. */
const twoOwnersShare = 0.15

/**
 * A scenario's operations with those of a ConfigMap among them that two others own, which go one after the other or not. They are drawn
 * from a source of their own, too.
 */
export function withTwoOwners(seed: number, operations: readonly Operation[]): readonly Operation[] {
  const draw = new Draw(seededRandom(seed).fork('an object of two owners'))
  if (!draw.chance(twoOwnersShare)) return operations
  const lastMs = lastOf(operations)
  const namespace = namespaceOf(draw)
  const owners = ['owner0', 'owner1'].map((name): Target => ({ kind: 'ConfigMap', namespace, name }))
  const make = ({ name }: Target): Request => ({ type: 'create', object: configShape(name, namespace) })
  const share = (): Request => ({
    type: 'create',
    object: configShape('shared', namespace),
    owners: owners.map((owner) => ({ ...owner, blockOwnerDeletion: draw.chance(0.5) })),
  })
  const remove = (): Request => ({
    type: 'delete',
    target: draw.of(owners),
    propagationPolicy: draw.of(['Background', 'Foreground', 'Orphan']),
  })
  const added: readonly Operation[] = [
    ...owners.map((owner): Operation => ({ atMs: 0, ...make(owner) })),
    { atMs: 0, ...share() },
    { atMs: draw.below(lastMs + 1), ...remove() },
    ...later(draw, [share, remove, () => make(draw.of(owners))], lastMs),
  ]
  return [...operations, ...added].toSorted((a, b) => a.atMs - b.atMs)
}

/** The claim of a pod, which stays until the pod has gone. */
const claimDeletion = (draw: Draw, { namespace = '', name }: Target): Request => ({
  type: 'delete',
  target: { kind: 'PersistentVolumeClaim', namespace, name: `data-${name}-${draw.below(3)}` },
  propagationPolicy: 'Background',
})

function later(draw: Draw, choices: readonly (() => Request)[], lastMs: number): readonly Operation[] {
  return Array.from({ length: draw.below(requestsMax + 1) }, () => ({
    atMs: draw.below(lastMs + 1),
    ...draw.of(choices)(),
  }))
}

/** What becomes of the claims of those stateful sets that have some, by the sets' names. */
function claimPolicies(draw: Draw, workloads: readonly Target[]): ReadonlyMap<string, ClaimPolicy> {
  const policies = ['Retain', 'Delete'] as const
  return new Map(
    workloads
      .filter(({ kind }) => kind === 'StatefulSet' && draw.chance(0.7))
      .map((target) => [nameOf(target), { whenDeleted: draw.of(policies), whenScaled: draw.of(policies) }]),
  )
}

function claiming(operation: Operation, policies: ReadonlyMap<string, ClaimPolicy>): Operation {
  if (operation.type !== 'create') return operation
  const { kind, metadata } = operation.object
  const { namespace, name = '' } = metadata
  const policy =
    kind === 'StatefulSet' ? policies.get(nameOf({ kind, ...(namespace ? { namespace } : {}), name })) : undefined
  return policy === undefined ? operation : { ...operation, object: withClaims(operation.object, policy) }
}
