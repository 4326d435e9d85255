import {
  type Pod,
  type PodDisruptionBudget,
  type PodDisruptionBudgetStatus,
  podDisruptionBudgets,
  pods,
} from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { follow, pod, refusal, startTestCore, type TestCore } from '../../testing/test-core.ts'

const key = { namespace: 'default', name: 'a' }
const budgetKey = { namespace: 'default', name: 'web' }

const eviction = (parts: object = {}) => ({
  apiVersion: 'policy/v1',
  kind: 'Eviction',
  metadata: { name: 'a' },
  ...parts,
})

const evict = ({ client }: TestCore, body: object = eviction(), options = {}) =>
  client.createSubresource(pods, key, 'eviction', body, options)

/** A pod `a` on a node. */
async function running(test: TestCore, conditions: readonly object[] = [{ type: 'Ready', status: 'True' }]) {
  await test.client.create(pods, pod('a', { labels: { app: 'web' } }, { nodeName: 'n1' }))
  const body = { status: { phase: 'Running', conditions } }
  await test.client.patch(pods, key, { type: 'merge', body }, { subresource: 'status' })
}

/** A budget over pods `app=web` whose controller has counted. */
async function budget(
  test: TestCore,
  status: Partial<PodDisruptionBudgetStatus>,
  { name = 'web', spec = {} }: { readonly name?: string; readonly spec?: PodDisruptionBudget['spec'] } = {},
) {
  const created = await test.client.create<PodDisruptionBudget>(podDisruptionBudgets, {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name, namespace: 'default' },
    spec: { minAvailable: 1, selector: { matchLabels: { app: 'web' } }, ...spec },
  })
  const counted = {
    disruptionsAllowed: 0,
    currentHealthy: 2,
    desiredHealthy: 1,
    expectedPods: 2,
    observedGeneration: 1,
  }
  const body = { ...created, status: { ...counted, ...status } }
  await test.client.update(podDisruptionBudgets, body, { subresource: 'status' })
}

const statusOfBudget = async ({ client }: TestCore) => (await client.get(podDisruptionBudgets, budgetKey)).status

const causes = async (call: Promise<unknown>) => {
  const error = await call.catch((caught: unknown) => caught)
  return (error as { status: { details: { causes: unknown; retryAfterSeconds: number } } }).status.details
}

describe('pods/eviction', () => {
  it('deletes a pod that no budget guards, and says on it why', async () => {
    const test = await startTestCore()
    await running(test)
    expect(await evict(test)).toMatchObject({ kind: 'Status', status: 'Success', code: 201 })
    const { metadata, status } = await test.client.get(pods, key)
    expect(metadata.deletionTimestamp).toBe('2026-01-01T00:00:30Z')
    expect(status?.conditions?.find(({ type }) => type === 'DisruptionTarget')).toEqual({
      type: 'DisruptionTarget',
      status: 'True',
      lastTransitionTime: '2026-01-01T00:00:00Z',
      reason: 'EvictionByEvictionAPI',
      message: 'Eviction API: evicting',
    })
  })

  it('refuses a policy of deletion that nobody knows', async () => {
    const test = await startTestCore()
    await running(test)
    const later = eviction({ deleteOptions: { propagationPolicy: 'Later' } })
    expect(await causes(evict(test, later))).toMatchObject({
      causes: [
        {
          field: 'propagationPolicy',
          message: 'Unsupported value: "Later": supported values: "Foreground", "Background", "Orphan", "nil"',
        },
      ],
    })
  })

  it('takes conditions and states of containers that say nothing more than their names', async () => {
    const test = await startTestCore()
    await running(test, [{ type: 'Ready' }])
    const body = { status: { containerStatuses: [{ name: 'web' }] } }
    const patched = await test.client.patch(pods, key, { type: 'merge', body }, { subresource: 'status' })
    expect(patched.status?.conditions).toEqual([{ type: 'Ready', status: '' }])
    expect(patched.status?.containerStatuses?.[0]).toMatchObject({ name: 'web', ready: false, restartCount: 0 })
  })

  it('charges the budget of the pod in the same transaction', async () => {
    const test = await startTestCore()
    await running(test)
    await budget(test, { disruptionsAllowed: 1 })
    const before = await test.store.latest()
    await evict(test)
    expect(await test.store.latest()).toBe(before + 1)
    expect(await statusOfBudget(test)).toMatchObject({
      disruptionsAllowed: 0,
      disruptedPods: { a: '2026-01-01T00:00:00Z' },
      conditions: [{ type: 'DisruptionAllowed', status: 'False', reason: 'InsufficientPods' }],
    })
  })

  it('grants no more than the budget allows, however many ask at once', async () => {
    const test = await startTestCore()
    const names = ['a', 'b', 'c', 'd', 'e']
    for (const name of names) {
      await test.client.create(pods, pod(name, { labels: { app: 'web' } }, { nodeName: 'n1' }))
      const body = { status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } }
      await test.client.patch(pods, { namespace: 'default', name }, { type: 'merge', body }, { subresource: 'status' })
    }
    await budget(test, { disruptionsAllowed: 2, currentHealthy: 5, desiredHealthy: 3 })
    const asked = names.map((name) =>
      test.client.createSubresource(pods, { namespace: 'default', name }, 'eviction', eviction({ metadata: { name } })),
    )
    const granted = (await Promise.allSettled(asked)).filter(({ status }) => status === 'fulfilled')
    expect(granted).toHaveLength(2)
    const going = (await test.client.list<Pod>(pods)).items.filter(({ metadata }) => metadata.deletionTimestamp)
    expect(going).toHaveLength(2)
    expect(Object.keys((await statusOfBudget(test))?.disruptedPods ?? {})).toHaveLength(2)
  })

  it('grants all that the budget allows to those who ask at once', async () => {
    const test = await startTestCore()
    const names = Array.from({ length: 60 }, (_, index) => `p${index}`)
    for (const name of names) {
      await test.client.create(pods, pod(name, { labels: { app: 'web' } }, { nodeName: 'n1' }))
      const body = { status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } }
      await test.client.patch(pods, { namespace: 'default', name }, { type: 'merge', body }, { subresource: 'status' })
    }
    await budget(test, { disruptionsAllowed: 60, currentHealthy: 60, desiredHealthy: 0, expectedPods: 60 })
    await Promise.all(
      names.map((name) =>
        test.client.createSubresource(
          pods,
          { namespace: 'default', name },
          'eviction',
          eviction({ metadata: { name } }),
        ),
      ),
    )
    expect(Object.keys((await statusOfBudget(test))?.disruptedPods ?? {})).toHaveLength(60)
  })

  it('refuses what the budget does not allow, with the cause', async () => {
    const test = await startTestCore()
    await running(test)
    await budget(test, { currentHealthy: 1 })
    expect(await refusal(evict(test))).toEqual({
      code: 429,
      reason: 'TooManyRequests',
      message: "Cannot evict pod as it would violate the pod's disruption budget.",
    })
    expect(await causes(evict(test))).toEqual({
      causes: [
        { reason: 'DisruptionBudget', message: 'The disruption budget web needs 1 healthy pods and has 1 currently' },
      ],
    })
    expect((await test.client.get(pods, key)).metadata.deletionTimestamp).toBeUndefined()
  })

  const disallowed = (reason: string, message: string) => ({
    type: 'DisruptionAllowed',
    status: 'False',
    reason,
    message,
    lastTransitionTime: '2026-01-01T00:00:00Z',
  })
  it.each<[string, Partial<PodDisruptionBudgetStatus>, string]>([
    ['it says no more', {}, 'does not allow evicting pods currently'],
    [
      'its condition says nothing',
      { conditions: [disallowed('InsufficientPods', '')] },
      'does not allow evicting pods currently',
    ],
    [
      'its condition says why',
      { conditions: [disallowed('Frozen', 'not today')] },
      'does not allow evicting pods currently (Frozen): not today',
    ],
    [
      'there are too few, whatever its condition says',
      { currentHealthy: 1, conditions: [disallowed('Frozen', 'not today')] },
      'needs 1 healthy pods and has 1 currently',
    ],
    [
      'its pods could not be counted, whatever it counted before',
      { currentHealthy: 0, conditions: [disallowed('SyncFailed', 'found no controllers')] },
      'does not allow evicting pods currently because it failed sync: found no controllers',
    ],
  ])('tells why the budget allows none where %s', async (_where, status, why) => {
    const test = await startTestCore()
    await running(test)
    await budget(test, status)
    const [cause] = (await causes(evict(test))).causes as readonly { readonly message: string }[]
    expect(cause?.message).toBe(`The disruption budget web ${why}`)
  })

  it('waits for a budget that has changed to be counted anew', async () => {
    const test = await startTestCore()
    await running(test)
    await budget(test, { disruptionsAllowed: 1, observedGeneration: 0 })
    expect(await causes(evict(test))).toEqual({
      retryAfterSeconds: 10,
      causes: [
        { reason: 'DisruptionBudget', message: 'The disruption budget web is still being processed by the server.' },
      ],
    })
  })

  const unready = [{ type: 'Ready', status: 'False' }]
  it.each([
    ['takes a pod that is not ready while enough others are', {}, undefined, true],
    ['keeps a pod that is not ready where too few others are', { currentHealthy: 0 }, undefined, false],
    ['takes it even then where the budget says so', { currentHealthy: 0 }, 'AlwaysAllow', true],
  ] as const)('%s', async (_what, status, unhealthyPodEvictionPolicy, isGranted) => {
    const test = await startTestCore()
    await running(test, unready)
    await budget(test, status, { spec: { ...(unhealthyPodEvictionPolicy && { unhealthyPodEvictionPolicy }) } })
    const asked = evict(test)
    if (isGranted) await asked
    else expect((await refusal(asked)).code).toBe(429)
    expect((await statusOfBudget(test))?.disruptedPods).toBeUndefined()
  })

  it('asks no budget about a pod that has not begun', async () => {
    const test = await startTestCore()
    await test.client.create(pods, pod('a', { labels: { app: 'web' } }))
    await budget(test, {})
    await evict(test)
    expect((await refusal(test.client.get(pods, key))).code).toBe(404)
  })

  it('shows whoever watches why the pod goes, also where it goes at once', async () => {
    const test = await startTestCore()
    await running(test)
    const watch = await test.client.watch<Pod>(pods, { resourceVersion: String(await test.store.latest()) })
    const { events } = follow(watch as never)
    await evict(test, eviction({ deleteOptions: { gracePeriodSeconds: 0 } }))
    await test.environment.clock.settle()
    watch.close()
    const seen = events.map(({ type, object }) => {
      const target = (object as Pod).status?.conditions?.some((each) => each.type === 'DisruptionTarget')
      return `${type} ${target}`
    })
    expect(seen).toEqual(['MODIFIED true', 'DELETED true'])
  })

  it('refuses a pod with several budgets', async () => {
    const test = await startTestCore()
    await running(test)
    await budget(test, { disruptionsAllowed: 1 })
    await budget(test, { disruptionsAllowed: 1 }, { name: 'other' })
    const found = await refusal(evict(test))
    expect(found.code).toBe(500)
    expect(found.message).toBe(
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    )
  })

  it.each([
    ['in the query', eviction(), { dryRun: true }],
    ['in the body', eviction({ deleteOptions: { dryRun: ['All'] } }), {}],
  ])('changes nothing in a dry run asked for %s', async (_where, body, options) => {
    const test = await startTestCore()
    await running(test)
    await budget(test, { disruptionsAllowed: 1 })
    const before = await test.store.latest()
    await evict(test, body, options)
    expect(await test.store.latest()).toBe(before)
  })

  it('is what admission makes of it', async () => {
    const test = await startTestCore({
      admission: [
        {
          name: 'patient',
          mutate: ({ subresource }, object) =>
            subresource === 'eviction' && object !== undefined
              ? ({ ...object, deleteOptions: { gracePeriodSeconds: 90 } } as typeof object)
              : object,
        },
      ],
    })
    await running(test)
    await evict(test)
    expect((await test.client.get(pods, key)).metadata.deletionGracePeriodSeconds).toBe(90)
  })

  it('takes evictions of policy/v1beta1', async () => {
    const test = await startTestCore()
    await running(test)
    await evict(test, eviction({ apiVersion: 'policy/v1beta1' }))
    expect((await test.client.get(pods, key)).metadata.deletionTimestamp).toBeDefined()
  })

  it.each([
    ['another name', eviction({ metadata: { name: 'b' } }), 'name in URL does not match name in Eviction object'],
    [
      'another pod of that name',
      eviction({ deleteOptions: { preconditions: { uid: 'x' } } }),
      'the UID in the precondition',
    ],
    ['another kind', { apiVersion: 'v1', kind: 'ConfigMap' }, 'cannot be handled as a Eviction'],
  ])('refuses %s', async (_what, body, message) => {
    const test = await startTestCore()
    await running(test)
    expect((await refusal(evict(test, body))).message).toContain(message)
  })
})
