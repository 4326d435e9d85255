import { namespaces, type Pod, pods, type StoredKind } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { pod, startTestCore, type TestCore } from '../testing/test-core.ts'

interface CountingCore extends TestCore {
  /** How many pods were looked at for the node they are on. */
  looks: number
}

/** `count` pods, each on a node of its own that watches its own pods; and a list by node has been asked for. */
async function withPodsAndNodes(count: number): Promise<CountingCore> {
  let looks = 0
  const nodeName = (each: Pod): string => {
    looks += 1
    return each.spec.nodeName ?? ''
  }
  const counting: StoredKind<Pod> = { ...pods, selectableFields: { 'spec.nodeName': nodeName } }
  const test = await startTestCore({ kinds: [namespaces, counting], disabledAdmission: ['ServiceAccount'] })
  for (let index = 0; index < count; index += 1) {
    await test.client.create(pods, pod(`p${index}`, {}, { nodeName: `n${index}` }))
  }
  const resourceVersion = String(await test.store.latest())
  for (let index = 0; index < count; index += 1) {
    await test.client.watch(pods, { fieldSelector: `spec.nodeName=n${index}`, resourceVersion })
  }
  await test.client.list(pods, { fieldSelector: 'spec.nodeName=n1' })
  await test.environment.clock.settle()
  return Object.defineProperty(test, 'looks', { get: () => looks }) as CountingCore
}

async function looksDuring(test: CountingCore, action: () => Promise<unknown>): Promise<number> {
  const before = test.looks
  await action()
  await test.environment.clock.settle()
  return test.looks - before
}

describe('among 100 pods and among 1,000', () => {
  it('one change looks at that pod only, and one list by node at the pods of that node', async () => {
    const few = await withPodsAndNodes(100)
    const many = await withPodsAndNodes(1_000)
    const change = ({ client }: CountingCore) =>
      client.patch(
        pods,
        { namespace: 'default', name: 'p7' },
        { type: 'merge', body: { metadata: { labels: { x: 'y' } } } },
      )
    const list = ({ client }: CountingCore) => client.list(pods, { fieldSelector: 'spec.nodeName=n7' })

    // Before and after the change: for the index, to find the watchers, and by the one watcher concerned.
    expect(await looksDuring(few, () => change(few))).toBe(6)
    expect(await looksDuring(many, () => change(many))).toBe(6)
    expect(await looksDuring(few, () => list(few))).toBe(1)
    expect(await looksDuring(many, () => list(many))).toBe(1)
  })
})
