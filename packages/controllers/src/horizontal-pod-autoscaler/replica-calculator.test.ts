import type { Pod } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { pod, secondsAgo, startMs } from '../testing/objects.ts'
import type { PodReadings } from './readings.ts'
import {
  type Basis,
  replicasByAverage,
  replicasByShare,
  replicasByUtilization,
  replicasByValue,
} from './replica-calculator.ts'

/** How a pod is: `ready` for long, `unready` since its start long ago, `hot` as it started a minute ago and has just become ready. */
type State = 'ready' | 'unready' | 'hot' | 'pending' | 'failed' | 'going' | 'was-ready' | 'warm' | 'over'

interface Case {
  readonly replicas?: number
  readonly pods?: readonly State[]
  /** Cores that each container of each pod requests; one container of one core unless said otherwise. */
  readonly requests?: readonly (readonly (string | undefined)[])[]
}

const conditionOf: Readonly<Record<State, readonly [started: number, status: string, changed: number]>> = {
  ready: [600, 'True', 600],
  unready: [600, 'False', 600],
  hot: [60, 'True', 10],
  pending: [600, 'False', 600],
  failed: [600, 'False', 600],
  going: [600, 'True', 600],
  'was-ready': [600, 'False', 60],
  warm: [60, 'True', 50],
  over: [600, 'True', 600],
}

function podIn(state: State, name: string, requests: readonly (string | undefined)[] = ['1']): Pod {
  const base = pod(name, { isGoing: state === 'going' })
  const [started, status, changed] = conditionOf[state]
  const phase = state === 'pending' ? 'Pending' : state === 'failed' || state === 'over' ? 'Failed' : 'Running'
  const containers = requests.map((cpu, index) => ({
    name: `c${index}`,
    image: 'web',
    resources: { requests: cpu === undefined ? {} : { cpu } },
  }))
  const conditions = [{ type: 'Ready', status, lastTransitionTime: secondsAgo(changed) }]
  return { ...base, spec: { containers }, status: { phase, startTime: secondsAgo(started), conditions } } as Pod
}

function basisOf({ pods, requests, ...rest }: Case, count: number): Basis {
  const states = pods ?? Array.from({ length: count }, () => 'ready' as const)
  return {
    replicas: count,
    statusReplicas: rest.replicas ?? count,
    tolerances: { up: 0.1, down: 0.1 },
    nowMs: startMs,
    ...rest,
    pods: states.map((state, index) => podIn(state, `p${index}`, requests?.[index])),
  }
}

/** Readings of the first pods, taken over the last half minute. */
const readings = (...millis: readonly number[]): PodReadings =>
  new Map(millis.map((value, index) => [`p${index}`, { millis: value, atMs: startMs, windowMs: 30_000 }]))

// The cases of upstream's replica_calculator_test.go, with its numbers.
describe('utilization of requests', () => {
  const cpu = (targetPercent: number) => ({ resource: 'cpu', container: '', targetPercent })
  it.each<[string, Case, readonly number[], number, number, readonly [number, number]]>([
    ['grows with usage', { replicas: 3 }, [300, 500, 700], 30, 5, [50, 500]],
    [
      'grows less while a pod is not ready',
      { replicas: 3, pods: ['unready', 'ready', 'ready'] },
      [300, 500, 700],
      30,
      4,
      [60, 600],
    ],
    [
      'grows less while a pod starts',
      { replicas: 3, pods: ['hot', 'ready', 'ready'] },
      [300, 500, 700],
      30,
      4,
      [60, 600],
    ],
    [
      'counts a pod that has been ready for a window',
      { replicas: 3, pods: ['warm', 'ready', 'ready'] },
      [300, 500, 700],
      30,
      5,
      [50, 500],
    ],
    [
      'counts a pod that was ready before',
      { replicas: 3, pods: ['was-ready', 'ready', 'ready'] },
      [300, 500, 700],
      30,
      5,
      [50, 500],
    ],
    [
      'does not grow while most are not ready',
      { replicas: 3, pods: ['ready', 'unready', 'unready'] },
      [400, 500, 700],
      30,
      3,
      [40, 400],
    ],
    [
      'does not grow while most start',
      { replicas: 3, pods: ['ready', 'hot', 'hot'] },
      [400, 500, 700],
      30,
      3,
      [40, 400],
    ],
    [
      'ignores pods that have failed',
      { replicas: 2, pods: ['ready', 'ready', 'failed', 'failed'] },
      [500, 700],
      30,
      4,
      [60, 600],
    ],
    [
      'ignores pods that go',
      { replicas: 2, pods: ['ready', 'ready', 'going', 'going'] },
      [500, 700, 900, 900],
      30,
      4,
      [60, 600],
    ],
    [
      'counts pods that wait as using nothing',
      { replicas: 3, pods: ['ready', 'ready', 'pending'] },
      [600, 600],
      30,
      4,
      [60, 600],
    ],
    ['shrinks with usage', { replicas: 5 }, [100, 300, 500, 250, 250], 50, 3, [28, 280]],
    [
      'shrinks by those that are ready',
      { replicas: 5, pods: ['ready', 'ready', 'ready', 'unready', 'unready'] },
      [100, 300, 500, 250, 250],
      50,
      2,
      [30, 300],
    ],
    [
      'stays within the tolerance',
      { replicas: 3, requests: [['900m'], ['1'], ['1100m']] },
      [1010, 1030, 1020],
      100,
      3,
      [102, 1020],
    ],
    ['keeps the count where a missing pod would turn it: equal', { replicas: 2 }, [1000], 100, 2, [100, 1000]],
    ['keeps the count where a missing pod would turn it: above', { replicas: 2 }, [1900], 100, 2, [190, 1900]],
    ['keeps the count where a missing pod would turn it: below', { replicas: 2 }, [600], 100, 2, [60, 600]],
    ['takes a missing pod to use all when shrinking', { replicas: 4 }, [400, 95], 100, 3, [24, 247]],
    [
      'takes a missing pod to use the target where that is more',
      { replicas: 4 },
      [2000, 1000, 1000],
      300,
      3,
      [133, 1333],
    ],
    [
      'neither grows nor shrinks by a pod that is missing and one that is not ready',
      { replicas: 3, pods: ['unready', 'ready', 'ready'] },
      [100, 450],
      50,
      3,
      [45, 450],
    ],
    [
      'grows past a pod that is missing and one that is not ready',
      { replicas: 3, pods: ['unready', 'ready', 'ready'] },
      [100, 2000],
      50,
      4,
      [200, 2000],
    ],
    [
      'shrinks past a pod that is missing and one that is not ready',
      { replicas: 4, pods: ['unready', 'ready', 'ready', 'ready'] },
      [100, 100, 100],
      50,
      3,
      [10, 100],
    ],
    [
      'does not grow for the surge of a rollout',
      { replicas: 2, pods: ['ready', 'ready', 'ready'] },
      [100, 100],
      50,
      2,
      [10, 100],
    ],
    [
      'tolerates the surge of a rollout',
      { replicas: 4, pods: ['ready', 'ready', 'ready', 'ready', 'ready'] },
      [500, 500, 500, 200],
      50,
      4,
      [42, 425],
    ],
    ['ignores readings of other pods', { replicas: 4 }, [4000, 9500, 3000, 7000, 3200, 2000], 100, 24, [587, 5875]],
    [
      'sums the containers of a pod',
      {
        replicas: 2,
        requests: [
          ['500m', '500m'],
          ['500m', '500m'],
        ],
      },
      [800, 800],
      40,
      4,
      [80, 800],
    ],
  ])('%s', (_what, given, millis, target, replicas, [percent, average]) => {
    const basis = basisOf(given, given.replicas ?? 0)
    expect(replicasByUtilization(basis, readings(...millis), cpu(target))).toEqual({
      replicas,
      percent,
      millis: average,
    })
  })

  it('is that of one container where one is named', () => {
    const basis = basisOf(
      {
        requests: [
          ['1', '100m'],
          ['1', '100m'],
        ],
      },
      2,
    )
    const named = { resource: 'cpu', container: 'c1', targetPercent: 50 }
    expect(replicasByUtilization(basis, readings(100, 100), named)).toEqual({ replicas: 4, percent: 100, millis: 100 })
  })

  it('does not grow where a missing pod that uses all that it requests would turn it', () => {
    expect(replicasByUtilization(basisOf({}, 2), readings(400), cpu(50))).toEqual({
      replicas: 2,
      percent: 40,
      millis: 400,
    })
  })

  it('goes by the requests of containers that run as long as the pod does', () => {
    const basis = basisOf({}, 1)
    const [only] = basis.pods
    const container = { image: 'web', resources: { requests: { cpu: '1' } } }
    const initContainers = [
      { ...container, name: 'setup' },
      { ...container, name: 'proxy', restartPolicy: 'Always' },
    ]
    const pods = [{ ...only, spec: { ...only?.spec, initContainers } } as Pod]
    expect(replicasByUtilization({ ...basis, pods }, readings(1000), cpu(50))).toMatchObject({ percent: 50 })
  })

  it('goes by what the pod as a whole requests where it does', () => {
    const basis = basisOf({ requests: [[undefined]] }, 1)
    const [only] = basis.pods
    const spec = { ...only?.spec, resources: { requests: { cpu: '2' } } }
    const pods = [{ ...only, spec } as Pod]
    expect(replicasByUtilization({ ...basis, pods }, readings(1000), cpu(50))).toMatchObject({ percent: 50 })
    const memory = { resource: 'memory', container: '', targetPercent: 50 }
    expect(replicasByUtilization({ ...basis, pods }, readings(1000), memory)).toEqual({
      error: 'missing pod-level request for memory in Pod p0',
    })
    // A container that is named goes before that.
    const named = { resource: 'cpu', container: 'c0', targetPercent: 50 }
    expect(replicasByUtilization({ ...basis, pods }, readings(1000), named)).toEqual({
      error: 'missing request for cpu in container c0 of Pod p0',
    })
  })

  it.each<[string, Case, readonly number[], string, string]>([
    ['no pods', { pods: [] }, [1], '', 'no pods returned by selector while calculating replica count'],
    [
      'no pod that is ready',
      { pods: ['pending'] },
      [1],
      '',
      'did not receive metrics for targeted pods (pods might be unready)',
    ],
    [
      'a pod that requests nothing',
      { requests: [[undefined]] },
      [1],
      '',
      'missing request for cpu in container c0 of Pod p0',
    ],
    ['a container that is not there', {}, [1], 'sidecar', 'container sidecar not found in Pod p0'],
    ['a request of nothing', { requests: [['0']] }, [1], '', 'no metrics returned matched known pods'],
  ])('cannot be told of %s', (_what, given, millis, container, error) => {
    const basis = basisOf(given, 1)
    const wanted = { resource: 'cpu', container, targetPercent: 50 }
    expect(replicasByUtilization(basis, readings(...millis), wanted)).toEqual({ error })
  })

  it('counts memory of pods that start: it is no worse for that', () => {
    const memory = { resource: '', targetMillis: 100 }
    expect(replicasByAverage(basisOf({ pods: ['hot', 'hot'] }, 2), readings(300, 300), memory)).toEqual({
      replicas: 6,
      millis: 300,
    })
  })
})

describe('an average over pods', () => {
  it.each<[string, Case, readonly number[], number, number, number]>([
    ['grows', {}, [20_000, 10_000, 30_000], 15_000, 4, 20_000],
    [
      'counts pods that are not ready',
      { pods: ['ready', 'ready', 'unready'] },
      [50_000, 10_000, 30_000],
      15_000,
      6,
      30_000,
    ],
    [
      'counts pods that are not ready, also where most are not',
      { pods: ['unready', 'ready', 'unready'] },
      [50_000, 15_000, 30_000],
      15_000,
      7,
      31_666,
    ],
    ['stays within the tolerance', {}, [20_000, 21_000, 21_000], 20_000, 3, 20_666],
    ['takes a missing pod to have nothing when growing', {}, [30_000, 30_000], 15_000, 4, 30_000],
    ['takes a missing pod to have its share when shrinking', {}, [1_000, 1_000], 15_000, 2, 1_000],
    [
      'stays where a missing pod that has nothing brings it within the tolerance',
      {},
      [24_000, 24_000],
      15_000,
      3,
      24_000,
    ],
    [
      'stays where a pod that waits and has nothing brings it within the tolerance',
      { pods: ['ready', 'ready', 'pending'] },
      [24_000, 24_000],
      15_000,
      3,
      24_000,
    ],
    [
      'stays where a missing pod that has its share brings it within the tolerance, whatever waits',
      { pods: ['ready', 'pending', 'ready'] },
      [8_000],
      10_000,
      3,
      8_000,
    ],
    [
      'does not shrink where what is known asks for more',
      { replicas: 10, pods: ['ready', 'ready', 'ready'] },
      [30_000, 30_000],
      15_000,
      10,
      30_000,
    ],
    [
      'does not grow where pods that wait would turn it',
      { pods: ['ready', 'pending', 'pending'] },
      [20_000],
      15_000,
      3,
      20_000,
    ],
  ])('%s', (_what, given, millis, targetMillis, replicas, average) => {
    const result = replicasByAverage(basisOf(given, 3), readings(...millis), { resource: '', targetMillis })
    expect(result).toEqual({ replicas, millis: average })
  })

  it('cannot be told of pods of which nothing was read', () => {
    const wanted = { resource: 'memory', targetMillis: 1 }
    expect(replicasByAverage(basisOf({}, 3), readings(), wanted)).toEqual({
      error: 'did not receive metrics for targeted pods (pods might be unready)',
    })
  })

  it('goes by the pods there are, not by the count that is wanted', () => {
    const given = { replicas: 2, pods: ['ready', 'ready', 'ready'] } as const
    expect(replicasByAverage(basisOf(given, 2), readings(100, 100, 100), { resource: '', targetMillis: 50 })).toEqual({
      replicas: 6,
      millis: 100,
    })
  })
})

describe('one value for all', () => {
  it.each<[string, Case, number, number, number]>([
    ['grows', {}, 20_000, 15_000, 4],
    ['multiplies pods that are ready', { pods: ['unready', 'ready', 'unready'] }, 50_000, 10_000, 5],
    ['multiplies no pod that has failed', { pods: ['ready', 'ready', 'over'] }, 50_000, 10_000, 10],
    ['may shrink for that', { pods: ['unready', 'ready', 'unready'] }, 8_600, 4_400, 2],
    ['stays within the tolerance', {}, 20_666, 20_000, 3],
    ['starts from zero by the value alone', { replicas: 0, pods: [] }, 20_000, 15_000, 2],
    ['stays at zero', { replicas: 0, pods: [] }, 0, 15_000, 0],
    ['shrinks to zero', {}, 0, 15_000, 0],
    ['has no more than 32 bits', {}, Number.MAX_SAFE_INTEGER, 1, 2 ** 31 - 1],
  ])('%s', (_what, given, millis, target, replicas) => {
    expect(replicasByValue(basisOf(given, 3), millis, target)).toEqual({ replicas, millis })
  })

  it('needs pods to multiply', () => {
    expect(replicasByValue(basisOf({ pods: [] }, 3), 9, 1)).toEqual({
      error: 'unable to calculate ready pods: no pods returned by selector while calculating replica count',
    })
  })

  it.each<[string, number, number, number, number, number]>([
    ['grows', 3, 20_000, 5_000, 4, 6_667],
    ['grows by an external metric', 3, 8_600, 2_150, 4, 2_867],
    ['shrinks', 5, 8_600, 2_867, 3, 1_720],
    ['stays within the tolerance', 4, 8_600, 2_200, 4, 2_150],
    ['stays within the tolerance above', 4, 9_200, 2_200, 4, 2_300],
    ['starts from zero', 0, 8_600, 2_150, 4, 8_600],
    ['stays at zero', 0, 0, 2_150, 0, 0],
  ])('of which each is to have a share %s', (_what, count, millis, target, replicas, share) => {
    expect(replicasByShare(basisOf({}, count), millis, target)).toEqual({ replicas, millis: share })
  })
})

describe('tolerances', () => {
  it.each([
    [0.2, 0.1, 1_150, 1],
    [0.1, 0.1, 1_150, 2],
    [0.1, 0.3, 750, 1],
    [0, 0, 1_001, 2],
  ])('of %d up and %d down: %d of 1000 asks for %d', (up, down, millis, replicas) => {
    const basis = { ...basisOf({}, 1), tolerances: { up, down } }
    expect(replicasByShare(basis, millis, 1_000)).toMatchObject({ replicas })
  })
})
