import { FieldPath, invalidField, replicationControllers } from '@coracle/api'
import { createMemoryStore } from '@coracle/store/memory'
import { describe, expect, it } from 'vitest'
import { startTestCore } from '../testing/test-core.ts'
import { newErrors, ratchetedErrorsMax } from './ratcheting.ts'

const errorAt = (index: number, value: unknown = 'x') =>
  invalidField(FieldPath.of('spec', 'list').index(index).field('name'), value, 'must not be so')

describe('what is newly wrong', () => {
  it('is what was not wrong before, wherever its element was', () => {
    const worse = errorAt(1, 'y')
    expect(newErrors([errorAt(0), worse], () => [errorAt(3)])).toEqual([worse])
  })

  it('counts: what was wrong once may be wrong once', () => {
    const [first, second] = [errorAt(0), errorAt(1)]
    expect(newErrors([first, second], () => [errorAt(7)])).toEqual([second])
  })

  it('is looked for only where something is wrong, and not in masses', () => {
    const never = () => {
      throw new Error('asked')
    }
    expect(newErrors([], never)).toEqual([])
    const masses = Array.from({ length: ratchetedErrorsMax + 1 }, () => errorAt(0))
    expect(newErrors(masses, never)).toBe(masses)
  })
})

describe('an object that the rules of its kind would not let in any more', () => {
  const key = { namespace: 'default', name: 'old' }
  const merge = (body: object) => ({ type: 'merge', body }) as const

  /** One with a restart policy that replication controllers do not take, and a port that nobody does. */
  async function startWithOld() {
    const store = createMemoryStore()
    const containers = [{ name: 'main', image: 'example', ports: [{ containerPort: 0 }] }]
    const object = {
      apiVersion: 'v1',
      kind: 'ReplicationController',
      metadata: { ...key, uid: 'u', creationTimestamp: '2020-01-01T00:00:00Z' },
      spec: {
        replicas: 1,
        selector: { app: 'old' },
        template: { metadata: { labels: { app: 'old' } }, spec: { restartPolicy: 'Never', containers } },
      },
    }
    const value = Buffer.from(JSON.stringify(object))
    const storeKey = '/registry/core/replicationcontrollers/default/old'
    await store.commit({ conditions: [], operations: [{ type: 'put', key: storeKey, value }] })
    return startTestCore({ store })
  }

  it('can be changed where it does not get worse', async () => {
    const { client } = await startWithOld()
    const scaled = await client.patch(replicationControllers, key, merge({ spec: { replicas: 3 } }))
    expect(scaled.spec.replicas).toBe(3)
  })

  it('cannot get worse', async () => {
    const { client } = await startWithOld()
    const worse = { spec: { template: { spec: { restartPolicy: 'OnFailure' } } } }
    await expect(client.patch(replicationControllers, key, merge(worse))).rejects.toThrow(
      'spec.template.spec.restartPolicy: Unsupported value: "OnFailure"',
    )
    await expect(
      client.patch(replicationControllers, key, merge({ spec: { selector: { app: 'other' } } })),
    ).rejects.toThrow('`selector` does not match template `labels`')
  })

  it('cannot be made anew', async () => {
    const { client } = await startWithOld()
    const { metadata, ...rest } = await client.get(replicationControllers, key)
    const copy = { ...rest, metadata: { name: 'new', namespace: metadata.namespace ?? '' } }
    await expect(client.create(replicationControllers, copy)).rejects.toThrow('restartPolicy')
  })
})
