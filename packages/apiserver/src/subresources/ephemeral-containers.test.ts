import { type Pod, pods } from '@coracle/api'
import type { Patch } from '@coracle/client'
import { describe, expect, it } from 'vitest'
import { pod, refusal, startTestCore } from '../testing/test-core.ts'

const key = { namespace: 'default', name: 'web' }
const subresource = 'ephemeralcontainers'
const debugger1 = { name: 'debugger', image: 'busybox:1', targetContainerName: 'main' }

async function withPod(metadata: object = {}, spec: object = {}) {
  const { client } = await startTestCore()
  const created = await client.create(pods, pod('web', metadata, spec))
  const patch = (body: unknown, type: Patch['type'] = 'strategic') =>
    client.patch(pods, key, { type, body } as Patch, { subresource })
  const add = (...ephemeralContainers: readonly object[]) => patch({ spec: { ephemeralContainers } })
  return { client, created, patch, add }
}

describe('pods/ephemeralcontainers', () => {
  it('adds containers to a pod, with their defaults, as a new generation', async () => {
    const { add, created } = await withPod()
    const changed = await add(debugger1)
    expect(changed.spec.ephemeralContainers).toEqual([
      {
        ...debugger1,
        imagePullPolicy: 'IfNotPresent',
        terminationMessagePath: '/dev/termination-log',
        terminationMessagePolicy: 'File',
        resources: {},
      },
    ])
    expect([created.metadata.generation, changed.metadata.generation]).toEqual([1, 2])
    const more = await add({ name: 'second', image: 'busybox:1' })
    expect(more.spec.ephemeralContainers?.map(({ name }) => name).toSorted()).toEqual(['debugger', 'second'])
  })

  it('is read as the pod, and replaced whole or applied too', async () => {
    const { client, created, patch } = await withPod()
    const replaced = await client.update(
      pods,
      { ...created, spec: { ...created.spec, ephemeralContainers: [debugger1] } } as Pod,
      { subresource },
    )
    expect(replaced.spec.ephemeralContainers).toHaveLength(1)
    expect(await client.get(pods, key, { subresource })).toEqual(replaced)
    const listed = [...(replaced.spec.ephemeralContainers ?? []), { name: 'merged', image: 'x' }]
    expect((await patch({ spec: { ephemeralContainers: listed } }, 'merge')).spec.ephemeralContainers).toHaveLength(2)
    const configuration = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: key,
      spec: { ephemeralContainers: [{ name: 'applied', image: 'x' }] },
    }
    const applied = await client.apply(pods, configuration as never, { subresource, fieldManager: 'me' })
    expect(applied.spec.ephemeralContainers?.map(({ name }) => name)).toContain('applied')
  })

  it('changes nothing else of a pod', async () => {
    const { patch } = await withPod()
    const changed = await patch({
      metadata: { labels: { other: 'yes' } },
      spec: { activeDeadlineSeconds: 5, ephemeralContainers: [debugger1] },
    })
    expect(changed.spec.ephemeralContainers).toHaveLength(1)
    expect([changed.spec.activeDeadlineSeconds, changed.metadata.labels?.other]).toEqual([undefined, undefined])
  })

  it('is the only way to them', async () => {
    const { client } = await withPod()
    const body = { spec: { ephemeralContainers: [debugger1] } }
    const { code, message } = await refusal(client.patch(pods, key, { type: 'strategic', body }))
    expect([code, message]).toEqual([422, expect.stringContaining('pod updates may not change fields other than')])
  })

  it.each<[string, object, string]>([
    ['to be removed', { ephemeralContainers: null }, 'existing ephemeral containers "debugger" may not be removed'],
    [
      'to be changed',
      { ephemeralContainers: [{ name: 'debugger', image: 'busybox:2' }] },
      'existing ephemeral containers "debugger" may not be changed',
    ],
    [
      'to have the name of another',
      { ephemeralContainers: [{ name: 'main', image: 'x' }] },
      'spec.ephemeralContainers[0].name: Duplicate value: "main"',
    ],
    [
      'to have what only others have',
      { ephemeralContainers: [{ name: 'more', image: 'x', ports: [{ containerPort: 80 }] }] },
      'ports: Forbidden: cannot be set for an Ephemeral Container',
    ],
    [
      'to look into what is not there',
      { ephemeralContainers: [{ name: 'more', image: 'x', targetContainerName: 'nobody' }] },
      'targetContainerName: Not found: "nobody"',
    ],
  ])('allows none %s', async (_, spec, message) => {
    const { add, patch } = await withPod()
    await add(debugger1)
    const found = await refusal(patch({ spec }))
    expect(found.code).toBe(422)
    expect(found.message).toContain(message)
  })

  it('has none for pods that a node has from a file', async () => {
    const { add } = await withPod({ annotations: { 'kubernetes.io/config.mirror': 'x' } }, { nodeName: 'a' })
    expect((await refusal(add(debugger1))).message).toContain('static pods do not support ephemeral containers')
  })
})
