import type { Pod, PodDisruptionBudget, PodDisruptionBudgetStatus } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { pod, secondsAgo, startMs } from '../testing/objects.ts'
import { GuardedTally } from './guarded-pods.ts'
import { type ExpectedScale, needsScale, planDisruptionBudget, planStaleTarget } from './plan.ts'

function budget(
  spec: Omit<NonNullable<PodDisruptionBudget['spec']>, 'selector'>,
  status?: Partial<PodDisruptionBudgetStatus>,
): PodDisruptionBudget {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'web', namespace: 'default', generation: 3 },
    spec: { selector: { matchLabels: { app: 'web' } }, ...spec },
    status: { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0, ...status },
  }
}

interface AtHand {
  readonly budget: PodDisruptionBudget
  /** The pods it guards. */
  readonly pods: readonly Pod[]
  readonly scale?: ExpectedScale | undefined
}

function plan({ budget, pods, scale }: AtHand) {
  const tally = new GuardedTally()
  for (const each of pods) tally.add(each)
  const granted = pods.filter(({ metadata }) => metadata.name && budget.status?.disruptedPods?.[metadata.name])
  return planDisruptionBudget({ budget, guarded: tally.guarded, granted, scale }, startMs)
}

const healthy = (count: number) => Array.from({ length: count }, (_, index) => pod(`p${index}`, { readyFor: 60 }))

describe('planDisruptionBudget', () => {
  it.each([
    ['a number that must be there', { minAvailable: 2 }, 3, undefined, [1, 3, 2, 3]],
    ['none to spare', { minAvailable: 3 }, 3, undefined, [0, 3, 3, 3]],
    ['a share that must be there, rounded up', { minAvailable: '50%' }, 5, 5, [2, 5, 3, 5]],
    ['a number that may be missing', { maxUnavailable: 1 }, 4, 4, [1, 4, 3, 4]],
    ['a share that may be missing, rounded up', { maxUnavailable: '30%' }, 4, 4, [2, 4, 2, 4]],
    ['more missing than there are', { maxUnavailable: 9 }, 2, 2, [2, 2, 0, 2]],
    ['fewer pods than wanted', { maxUnavailable: 1 }, 2, 4, [0, 2, 3, 4]],
    ['nothing to guard yet', { minAvailable: 0 }, 0, undefined, [0, 0, 0, 0]],
    ['a share of nothing, where nobody has made the pod', { minAvailable: '28%' }, 1, 0, [0, 1, 0, 0]],
    ['a pod that nobody has made among those that are there', { minAvailable: '34%' }, 4, 3, [2, 4, 2, 3]],
    ['a share of what two controllers want', { minAvailable: '28%' }, 9, 22, [2, 9, 7, 22]],
    ['a share of what is wanted, not of what is there', { maxUnavailable: '30%' }, 1, 7, [0, 1, 4, 7]],
    ['a share of less once less is wanted', { maxUnavailable: '30%' }, 1, 3, [0, 1, 2, 3]],
  ] as const)('counts %s', (_what, spec, count, scale, [allowed, current, desired, expected]) => {
    const observed = {
      budget: budget(spec),
      pods: healthy(count),
      scale: scale === undefined ? undefined : { count: scale },
    }
    expect(plan(observed).status).toMatchObject({
      disruptionsAllowed: allowed,
      currentHealthy: current,
      desiredHealthy: desired,
      expectedPods: expected,
      observedGeneration: 3,
      conditions: [
        {
          type: 'DisruptionAllowed',
          status: allowed > 0 ? 'True' : 'False',
          reason: allowed > 0 ? 'SufficientPods' : 'InsufficientPods',
          message: '',
          lastTransitionTime: secondsAgo(0),
          observedGeneration: 3,
        },
      ],
    })
  })

  it('counts no pod that is going or is not ready', () => {
    const pods = [pod('going', { readyFor: 60, isGoing: true }), pod('unready'), ...healthy(2)]
    const { status } = plan({ budget: budget({ minAvailable: 1 }), pods })
    expect(status).toMatchObject({ currentHealthy: 2, disruptionsAllowed: 1, expectedPods: 4 })
  })

  it('counts no pod whose eviction is granted, until that is too long ago', () => {
    const observed = {
      budget: budget(
        { minAvailable: 1 },
        { disruptedPods: { p0: secondsAgo(30), p1: secondsAgo(120), gone: secondsAgo(1) } },
      ),
      pods: healthy(3),
    }
    const { status, actions, requeueAfterMs } = plan(observed)
    expect(status).toMatchObject({ currentHealthy: 2, disruptionsAllowed: 1, disruptedPods: { p0: secondsAgo(30) } })
    expect(status?.disruptedPods).not.toHaveProperty('gone')
    expect(requeueAfterMs).toBe(90_000)
    expect(actions).toMatchObject([
      {
        type: 'event',
        eventType: 'Warning',
        reason: 'NotDeleted',
        about: { metadata: { name: 'p1' } },
        message: "Pod was expected by PDB default/web to be deleted but it wasn't",
      },
    ])
  })

  it('awaits no deletion of a pod that is going', () => {
    const granted = { p0: secondsAgo(30), going: secondsAgo(500) }
    const observed = {
      budget: budget({ minAvailable: 1 }, { disruptedPods: granted }),
      pods: [...healthy(2), pod('going', { readyFor: 60, isGoing: true })],
    }
    const { status, actions, requeueAfterMs } = plan(observed)
    expect(status?.disruptedPods).toEqual({ p0: secondsAgo(30) })
    expect([actions, requeueAfterMs]).toEqual([[], 90_000])
  })

  it('looks again when the first of the evictions that are granted should have come about', () => {
    const granted = { p0: secondsAgo(30), p1: secondsAgo(90), p2: secondsAgo(60) }
    const { requeueAfterMs } = plan({
      budget: budget({ minAvailable: 1 }, { disruptedPods: granted }),
      pods: healthy(3),
    })
    expect(requeueAfterMs).toBe(30_000)
  })

  it('allows nothing while nobody can say how many pods there should be', () => {
    const observed = {
      budget: budget({ maxUnavailable: 1 }, { disruptionsAllowed: 1, observedGeneration: 2 }),
      pods: healthy(2),
      scale: { error: 'found no controllers for pod "p0"' },
    }
    const { status, actions } = plan(observed)
    expect(status).toMatchObject({
      disruptionsAllowed: 0,
      observedGeneration: 2,
      conditions: [{ status: 'False', reason: 'SyncFailed', message: 'found no controllers for pod "p0"' }],
    })
    const message = 'Failed to calculate the number of expected pods: found no controllers for pod "p0"'
    expect(actions).toMatchObject([{ eventType: 'Warning', reason: 'CalculateExpectedPodCountFailed', message }])
  })

  it('says that it guards nothing, and what it cannot count', () => {
    const none = plan({ budget: budget({ minAvailable: 1 }), pods: [] })
    expect(none.actions).toMatchObject([{ eventType: 'Normal', reason: 'NoPods', message: 'No matching pods found' }])
    const scale = { count: 0 }
    const bare = plan({ budget: budget({ maxUnavailable: 1 }), pods: healthy(1), scale })
    const message =
      'Pods selected by this PodDisruptionBudget (selector: &LabelSelector{MatchLabels:map[string]string{app: web,},MatchExpressions:[]LabelSelectorRequirement{},}) were found to be unmanaged. As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. To account for these pods please set ".spec.minAvailable" field of the PDB to an integer value.'
    expect(bare.actions).toMatchObject([{ eventType: 'Warning', reason: 'UnmanagedPods', message }])
    expect(bare.actions[0]).not.toHaveProperty('about')
  })
})

it.each([
  ['a number that must be there', { minAvailable: 2 }, false],
  ['a share that must be there', { minAvailable: '50%' }, true],
  ['a number that may be missing', { maxUnavailable: 1 }, true],
  ['a share that may be missing', { maxUnavailable: '50%' }, true],
  ['nothing', {}, false],
] as const)('whether it matters how many pods there should be, where a budget says %s', (_what, spec, isNeeded) => {
  expect(needsScale(budget(spec))).toBe(isNeeded)
})

describe('planStaleTarget', () => {
  const targeted = (secondsSince: number, traits = {}) => {
    const base = pod('p', traits)
    const target = { type: 'DisruptionTarget', status: 'True', lastTransitionTime: secondsAgo(secondsSince) } as const
    return { ...base, status: { ...base.status, conditions: [target] } }
  }

  it('takes the condition back two minutes later', () => {
    expect(planStaleTarget(targeted(120), startMs).actions).toMatchObject([
      {
        type: 'patch',
        subresource: 'status',
        patch: { body: { status: { conditions: [{ type: 'DisruptionTarget', status: 'False' }] } } },
      },
    ])
  })

  it('takes back the reason and the message with it', () => {
    const pod = targeted(120)
    const conditions = pod.status.conditions.map((each) => ({
      ...each,
      reason: 'EvictionByEvictionAPI',
      message: 'evicting',
    }))
    const metadata = { ...pod.metadata, uid: 'u', resourceVersion: '7', generation: 3 }
    const [action] = planStaleTarget({ ...pod, metadata, status: { ...pod.status, conditions } }, startMs).actions
    const body = action?.type === 'patch' ? (action.patch.body as { metadata: unknown; status: unknown }) : undefined
    expect(body?.metadata).toEqual({ uid: 'u', resourceVersion: '7' })
    expect(body?.status).toEqual({
      conditions: [
        { type: 'DisruptionTarget', status: 'False', observedGeneration: 3, lastTransitionTime: secondsAgo(0) },
      ],
    })
  })

  it('leaves a pod to its node that ends it, however long that takes', () => {
    const pod = targeted(500)
    const conditions = pod.status.conditions.map((each) => ({ ...each, reason: 'TerminationByKubelet' }))
    expect(planStaleTarget({ ...pod, status: { ...pod.status, conditions } }, startMs)).toEqual({ actions: [] })
  })

  it('waits until then', () => {
    expect(planStaleTarget(targeted(50), startMs)).toEqual({ actions: [], requeueAfterMs: 70_000 })
  })

  it.each([
    ['that is going', { isGoing: true }],
    ['that has ended', { phase: 'Failed' }],
  ])('leaves a pod alone %s', (_what, traits) => {
    expect(planStaleTarget(targeted(500, traits), startMs)).toEqual({ actions: [] })
  })
})
