import type { Pod } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { invariants, type View } from './invariants.ts'
import type { Workload } from './workloads.ts'

interface Owner {
  readonly kind: string
  readonly name: string
  readonly uid?: string
}

interface Traits {
  readonly owners?: readonly Owner[]
  readonly node?: string
  readonly isGoing?: boolean
  readonly phase?: string
}

function pod(name: string, { owners = [], node, isGoing = false, phase = 'Running' }: Traits = {}): Pod {
  const ownerReferences = owners.map(({ kind, name: owner, uid = owner }) => ({
    apiVersion: 'v1',
    kind,
    name: owner,
    uid,
    controller: true,
  }))
  const deletionTimestamp = isGoing ? '2026-01-01T00:00:00Z' : undefined
  return {
    kind: 'Pod',
    metadata: { name, uid: name, ownerReferences, deletionTimestamp },
    spec: { nodeName: node },
    status: { phase },
  } as unknown as Pod
}

const workload = (kind: string, name: string, spec: object = {}, status: object = {}): Workload =>
  ({
    kind,
    metadata: { name, uid: name, generation: 1 },
    spec,
    status: { observedGeneration: 1, ...status },
  }) as unknown as Workload

function view(pods: readonly Pod[], workloads: readonly Workload[] = [], sizes: readonly number[] = []): View {
  return { listPods: () => pods, listWorkloads: () => workloads, sizesOf: () => sizes }
}

/** The names of the rules that a new pod breaks, which is the last of these. */
const brokenBy = (seen: View) => {
  const made = seen.listPods().at(-1) as Pod
  return invariants
    .filter(({ check }) => check?.({ pod: made, old: undefined, view: seen }) !== undefined)
    .map(({ name }) => name)
}
const finallyBroken = (seen: View) =>
  invariants.filter(({ finally: check }) => (check?.(seen) ?? []).length > 0).map(({ name }) => name)

const set = { kind: 'ReplicaSet', name: 'web' }
const daemon = { kind: 'DaemonSet', name: 'agent' }
const stateful = { kind: 'StatefulSet', name: 'db' }

describe('what is judged at every change', () => {
  it.each<readonly [string, View, readonly string[]]>([
    ['a pod of its own', view([pod('a')]), []],
    [
      'two controllers',
      view([pod('a', { owners: [set, daemon] })], [workload('DaemonSet', 'agent')]),
      ['a pod has at most one controller'],
    ],
    ['as many pods as asked for', view([pod('a', { owners: [set] })], [], [1]), []],
    [
      'more pods than asked for',
      view([pod('a', { owners: [set] }), pod('b', { owners: [set] })], [], [1]),
      ['no more pods are made than were asked for'],
    ],
    [
      'as many as were asked for until now',
      view([pod('a', { owners: [set] }), pod('b', { owners: [set] })], [], [2, 1]),
      [],
    ],
    [
      'one for another that goes',
      view([pod('a', { owners: [set], isGoing: true }), pod('b', { owners: [set] })], [], [1]),
      [],
    ],
    [
      'one for another that has failed',
      view([pod('a', { owners: [set], phase: 'Failed' }), pod('b', { owners: [set] })], [], [1]),
      [],
    ],
    [
      'a numbered pod that is wanted, while one goes that is not',
      view(
        [pod('db-1', { owners: [stateful] }), pod('db-0', { owners: [stateful] })],
        [workload('StatefulSet', 'db')],
        [1],
      ),
      [],
    ],
    [
      'a numbered pod too many',
      view(
        [pod('db-0', { owners: [stateful] }), pod('db-1', { owners: [stateful] })],
        [workload('StatefulSet', 'db')],
        [1],
      ),
      ['no more pods are made than were asked for'],
    ],
    [
      'two daemons on a node',
      view(
        [pod('a', { owners: [daemon], node: 'n' }), pod('b', { owners: [daemon], node: 'n' })],
        [workload('DaemonSet', 'agent')],
      ),
      ['a node gets one pod of a daemon set at a time'],
    ],
    [
      'two daemons on a node, where there may be',
      view(
        [pod('a', { owners: [daemon], node: 'n' }), pod('b', { owners: [daemon], node: 'n' })],
        [workload('DaemonSet', 'agent', { updateStrategy: { rollingUpdate: { maxSurge: 1 } } })],
      ),
      [],
    ],
    [
      'a pod before its predecessor',
      view([pod('db-1', { owners: [stateful] })], [workload('StatefulSet', 'db')], [2]),
      ['a pod in order comes after those before it'],
    ],
    [
      'a pod before its predecessor, where order does not matter',
      view(
        [pod('db-1', { owners: [stateful] })],
        [workload('StatefulSet', 'db', { podManagementPolicy: 'Parallel' })],
        [2],
      ),
      [],
    ],
  ])('%s', (_, seen, broken) => {
    expect(brokenBy(seen)).toEqual(broken)
  })
})

describe('what is judged in the end', () => {
  const converged = 'in the end every workload is as it was asked to be'
  const counts = { replicas: 1, readyReplicas: 1, availableReplicas: 1 }
  it.each<readonly [string, View, readonly string[]]>([
    ['all is well', view([pod('a', { owners: [set] })], [workload('ReplicaSet', 'web', { replicas: 1 }, counts)]), []],
    ['a pod outlives its owner', view([pod('a', { owners: [set] })]), ['what an owner owned goes with it']],
    ['a pod is still going', view([pod('a', { isGoing: true })]), [converged]],
    ['a pod is missing', view([], [workload('ReplicaSet', 'web', { replicas: 1 }, counts)]), [converged]],
    [
      'a status is out of date',
      view([], [workload('ReplicaSet', 'web', { replicas: 0 }, { observedGeneration: 0 })]),
      [converged],
    ],
    [
      'a rollout is not over',
      view([], [workload('Deployment', 'web', { replicas: 1 }, { ...counts, updatedReplicas: 0 })]),
      [converged],
    ],
    ['a rollout is paused', view([], [workload('Deployment', 'web', { replicas: 1, paused: true }, counts)]), []],
    [
      'a node lacks its daemon',
      view([], [workload('DaemonSet', 'agent', {}, { desiredNumberScheduled: 1 })]),
      [converged],
    ],
    [
      'a pod that was taken aside has the name',
      view([pod('db-0')], [workload('StatefulSet', 'db', { replicas: 1 })]),
      [],
    ],
  ])('%s', (_, seen, broken) => {
    expect(finallyBroken(seen)).toEqual(broken)
  })
})
