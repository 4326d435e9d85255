import { deepEqual, namespaces, type Pod, pods, type Toleration } from '@coracle/api'
import { countWork } from '@coracle/api/testing'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { pod, refusal, startTestCore } from '../testing/test-core.ts'
import { allows, mergedTolerations } from './tolerations.ts'

const equal = (key: string, value: string, changes: Toleration = {}): Toleration => ({
  key,
  operator: 'Equal',
  value,
  effect: 'NoSchedule',
  ...changes,
})
const exists = (key: string, changes: Toleration = {}): Toleration => ({
  key,
  operator: 'Exists',
  effect: 'NoSchedule',
  ...changes,
})
const underMemoryPressure = exists('node.kubernetes.io/memory-pressure')
const burstable = { containers: [{ name: 'c', image: 'i', resources: { requests: { memory: '1Mi' } } }] }

interface Annotations {
  readonly defaults?: readonly Toleration[]
  readonly allowed?: readonly Toleration[]
}

async function startWith({ defaults, allowed }: Annotations) {
  const test = await startTestCore({
    enabledAdmission: ['PodTolerationRestriction'],
    disabledAdmission: ['DefaultTolerationSeconds'],
  })
  const annotations = {
    ...(defaults && { 'scheduler.alpha.kubernetes.io/defaultTolerations': JSON.stringify(defaults) }),
    ...(allowed && { 'scheduler.alpha.kubernetes.io/tolerationsWhitelist': JSON.stringify(allowed) }),
  }
  await test.client.patch(namespaces, { name: 'default' }, { type: 'merge', body: { metadata: { annotations } } })
  const create = (tolerations: readonly Toleration[] = [], spec: Partial<Pod['spec']> = {}) =>
    test.client.create(pods, pod('a', {}, { ...(tolerations.length > 0 && { tolerations }), ...spec } as Pod['spec']))
  return { ...test, create }
}

describe('PodTolerationRestriction', () => {
  it.each<[string, Annotations, Toleration[], Toleration[] | undefined]>([
    ['of nobody', {}, [], undefined],
    ['of its own', {}, [equal('k', 'v')], [equal('k', 'v')]],
    ['of its namespace', { defaults: [equal('k', 'v')] }, [], [equal('k', 'v')]],
    ['of both', { defaults: [equal('k', 'v')] }, [equal('k', 'w')], [equal('k', 'w'), equal('k', 'v')]],
    ['of its namespace, each once', { defaults: [equal('k', 'v'), exists('k')] }, [], [exists('k')]],
    ['of its namespace, which covers its own', { defaults: [exists('k')] }, [equal('k', 'w')], [exists('k')]],
    ['that are allowed', { defaults: [equal('k', 'v')], allowed: [exists('k')] }, [], [equal('k', 'v')]],
    ['that are allowed, where nothing is said of which', { allowed: [] }, [equal('k', 'v')], [equal('k', 'v')]],
  ])('gives a pod tolerations %s', async (_whose, annotations, own, expected) => {
    const { create } = await startWith(annotations)
    expect((await create(own)).spec.tolerations).toEqual(expected)
  })

  it('lets pods that ask for something go where memory is short', async () => {
    const { create } = await startWith({ defaults: [equal('k', 'v')] })
    expect((await create([], burstable)).spec.tolerations).toEqual([equal('k', 'v'), underMemoryPressure])
  })

  it.each<[string, Annotations, Toleration[], Partial<Pod['spec']>]>([
    ['its own', { allowed: [equal('k', 'v')] }, [equal('k', 'w')], {}],
    ['those of its namespace', { defaults: [equal('k', 'v')], allowed: [equal('k', 'w')] }, [], {}],
    ['the one for nodes short of memory', { allowed: [equal('k', 'v')] }, [], burstable],
  ])('refuses a pod where it is not allowed to tolerate %s', async (_which, annotations, own, spec) => {
    const { create } = await startWith(annotations)
    expect(await refusal(create(own, spec))).toMatchObject({
      code: 500,
      message:
        'pod tolerations (possibly merged with namespace default tolerations) conflict with its namespace whitelist',
    })
  })

  it('judges what an update adds, too', async () => {
    const { client, create } = await startWith({ defaults: [equal('k', 'v')], allowed: [equal('k', 'v')] })
    const created = await create()
    const tolerations = [...(created.spec.tolerations ?? []), equal('k', 'w')]
    const change = client.update(pods, { ...created, spec: { ...created.spec, tolerations } })
    expect((await refusal(change)).message).toContain('conflict with its namespace whitelist')
  })

  it('cannot tell what to do where it cannot read an annotation', async () => {
    const { client, create } = await startWith({})
    const annotations = { 'scheduler.alpha.kubernetes.io/defaultTolerations': '{' }
    await client.patch(namespaces, { name: 'default' }, { type: 'merge', body: { metadata: { annotations } } })
    expect((await refusal(create())).code).toBe(500)
  })
})

describe('tolerations', () => {
  it.each<[string, Toleration[], Toleration[], Toleration[]]>([
    ['of different keys', [exists('a')], [exists('b')], [exists('a'), exists('b')]],
    ['that are the same', [exists('a')], [exists('a')], [exists('a')]],
    ['of which the first covers the second', [exists('a')], [equal('a', 'v')], [exists('a')]],
    ['of which the second covers the first', [equal('a', 'v')], [exists('a')], [exists('a')]],
    ['of which one is every key', [equal('a', 'v')], [{ operator: 'Exists' }], [{ operator: 'Exists' }]],
    [
      'of which one is every effect',
      [exists('a')],
      [{ key: 'a', operator: 'Exists' }],
      [{ key: 'a', operator: 'Exists' }],
    ],
    [
      'for different times',
      [exists('a', { effect: 'NoExecute', tolerationSeconds: 10 })],
      [exists('a', { effect: 'NoExecute', tolerationSeconds: 20 })],
      [exists('a', { effect: 'NoExecute', tolerationSeconds: 20 })],
    ],
    [
      'for a time and for ever',
      [exists('a', { effect: 'NoExecute' })],
      [exists('a', { effect: 'NoExecute', tolerationSeconds: 20 })],
      [exists('a', { effect: 'NoExecute' })],
    ],
    ['of different values', [equal('a', 'v')], [equal('a', 'w')], [equal('a', 'v'), equal('a', 'w')]],
  ])('%s are merged', (_which, first, second, expected) => {
    expect(mergedTolerations(first, second)).toEqual(expected)
  })

  it('are merged and allowed as if each was compared with each', () => {
    const text = fc.constantFrom('', 'a', 'b')
    const toleration = fc.record({
      key: text,
      operator: fc.constantFrom('', 'Exists', 'Equal', 'Gt'),
      value: text,
      effect: fc.constantFrom('', 'NoSchedule', 'NoExecute'),
      tolerationSeconds: fc.option(fc.constantFrom(0, 1, 2), { nil: undefined }),
    }) as fc.Arbitrary<Toleration>
    const some = fc.array(toleration, { maxLength: 8 })
    fc.assert(
      fc.property(some, some, (first, second) => {
        expect(mergedTolerations(first, second)).toEqual(mergedOneByOne([...first, ...second]))
        expect(allows(first, second)).toBe(
          first.length === 0 || second.every((each) => first.some((wide) => covers(wide, each))),
        )
      }),
      { numRuns: 2_000 },
    )
  })

  it.each<[string, (list: readonly Toleration[]) => unknown]>([
    ['merged', (list) => mergedTolerations(list, list)],
    ['allowed', (list) => allows(list, list)],
  ])('are %s with work that grows with their number, not with its square', (_how, run) => {
    const work = (count: number) =>
      countWork(
        Array.from({ length: count }, (_, index) => equal('k', `${index}`)),
        run,
      )
    work(1)
    expect(work(1_000) / work(100)).toBeLessThan(20)
  })

  it('that nobody restricts are allowed', () => {
    expect(allows([], [exists('a')])).toBe(true)
    expect(allows([exists('a')], [])).toBe(true)
    expect(allows([exists('a')], [equal('a', 'v'), exists('b')])).toBe(false)
  })
})

function mergedOneByOne(all: readonly Toleration[]): readonly Toleration[] {
  const merged: Toleration[] = []
  for (const [index, each] of all.entries()) {
    const isCovered =
      merged.some((kept) => covers(kept, each)) ||
      all.slice(index + 1).some((later) => !deepEqual(later, each) && covers(later, each))
    if (!isCovered) merged.push(each)
  }
  return merged
}

/** Whether one toleration tolerates all that another does. */
function covers(wide: Toleration, narrow: Toleration): boolean {
  if (deepEqual(wide, narrow)) return true
  if (wide.key !== narrow.key && (wide.key !== '' || wide.operator !== 'Exists')) return false
  if (wide.effect !== narrow.effect && wide.effect !== '') return false
  if (wide.effect === 'NoExecute' && wide.tolerationSeconds !== undefined) {
    if (narrow.tolerationSeconds === undefined || narrow.tolerationSeconds > wide.tolerationSeconds) return false
  }
  if (wide.operator === 'Exists') return true
  if (wide.operator !== '' && wide.operator !== 'Equal') return false
  return narrow.operator === 'Equal' && narrow.value === wide.value
}
