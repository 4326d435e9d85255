import { type LimitRange, limitRanges, nodes, persistentVolumeClaims, pods } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { createAccount, pod, refusal, startTestCore } from '../testing/test-core.ts'

const limits = (name: string, ...items: readonly object[]): LimitRange =>
  ({
    apiVersion: 'v1',
    kind: 'LimitRange',
    metadata: { name, namespace: 'default' },
    spec: { limits: items },
  }) as LimitRange

const withResources = (resources: object) => ({ containers: [{ name: 'main', image: 'nginx', resources }] })
const claim = (storage: string) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'c', namespace: 'default' },
  spec: { accessModes: ['ReadWriteOnce' as const], resources: { requests: { storage } } },
})

describe('LimitRanger', () => {
  it('gives containers what they do not say, and notes it', async () => {
    const { client } = await startTestCore()
    await client.create(
      limitRanges,
      limits('l', { type: 'Container', default: { cpu: '1', memory: '1Gi' }, defaultRequest: { cpu: '500m' } }),
    )
    const { metadata, spec } = await client.create(
      pods,
      pod('a', {}, {
        initContainers: [{ name: 'first', image: 'nginx' }],
        ...withResources({ limits: { cpu: '2' }, requests: { cpu: '1' } }),
      } as never),
    )
    expect(spec.containers[0]?.resources).toEqual({
      requests: { cpu: '1', memory: '1Gi' },
      limits: { cpu: '2', memory: '1Gi' },
    })
    expect(spec.initContainers?.[0]?.resources).toEqual({
      requests: { cpu: '500m', memory: '1Gi' },
      limits: { cpu: '1', memory: '1Gi' },
    })
    expect(metadata.annotations?.['kubernetes.io/limit-ranger']).toBe(
      'LimitRanger plugin set: memory request for container main; memory limit for container main; cpu, memory request for init container first; cpu, memory limit for init container first',
    )
  })

  it('leaves a pod alone that is on its way out', async () => {
    const { client } = await startTestCore()
    await client.create(nodes, {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'n1' },
      status: { allocatable: { cpu: '8', memory: '8Gi' } },
    })
    const given = { requests: { cpu: '1' }, limits: { cpu: '1' } }
    await client.create(pods, pod('a', {}, { nodeName: 'n1', ...withResources(given) } as never))
    await client.create(limitRanges, limits('l', { type: 'Container', max: { cpu: '1' } }))
    const wanted = { requests: { cpu: '2' }, limits: { cpu: '2' } }
    const body = { spec: { containers: [{ name: 'main', resources: wanted }] } }
    const resize = () =>
      client.patch(pods, { namespace: 'default', name: 'a' }, { type: 'strategic', body }, { subresource: 'resize' })
    expect((await refusal(resize())).message).toContain('maximum cpu usage per Container is 1, but limit is 2')
    await client.delete(pods, { namespace: 'default', name: 'a' })
    expect((await resize()).spec.containers[0]?.resources?.limits).toEqual({ cpu: '2' })
  })

  it.each<readonly [string, object, object, string]>([
    [
      'too much',
      { max: { cpu: '1' } },
      { limits: { cpu: '2' } },
      'maximum cpu usage per Container is 1, but limit is 2',
    ],
    [
      'too little',
      { min: { memory: '1Gi' } },
      { requests: { memory: '1Mi' } },
      'minimum memory usage per Container is 1Gi, but request is 1Mi',
    ],
    [
      'no limit where there is one for the pod',
      { type: 'Pod', max: { cpu: '1' } },
      {},
      'maximum cpu usage per Pod is 1.  No limit is specified',
    ],
    [
      'no request where there must be one',
      { type: 'Pod', min: { cpu: '1' } },
      {},
      'minimum cpu usage per Pod is 1.  No request is specified',
    ],
    [
      'much more than was asked for',
      { maxLimitRequestRatio: { cpu: '2' } },
      { requests: { cpu: '1' }, limits: { cpu: '3' } },
      'cpu max limit to request ratio per Container is 2, but provided ratio is 3.000000',
    ],
    [
      'a ratio to nothing',
      { maxLimitRequestRatio: { cpu: '2' } },
      {},
      'cpu max limit to request ratio per Container is 2, but no request is specified or request is 0',
    ],
    [
      'several things',
      { type: 'Pod', max: { cpu: '1', memory: '1Gi' } },
      { limits: { cpu: '2', memory: '2Gi' } },
      '[maximum cpu usage per Pod is 1, but limit is 2, maximum memory usage per Pod is 1Gi, but limit is 2Gi]',
    ],
  ])('refuses %s', async (_, limit, resources, why) => {
    const { client } = await startTestCore()
    await client.create(limitRanges, limits('l', { type: 'Container', ...limit }))
    expect(await refusal(client.create(pods, pod('a', {}, withResources(resources) as never)))).toEqual({
      code: 403,
      reason: 'Forbidden',
      message: `pods "a" is forbidden: ${why}`,
    })
  })

  it('adds up a pod before it is judged, and counts what init containers need', async () => {
    const { client } = await startTestCore()
    await client.create(limitRanges, limits('l', { type: 'Pod', max: { cpu: '3' } }))
    const container = (name: string, cpu: string) => ({ name, image: 'nginx', resources: { limits: { cpu } } })
    const spec = (first: string) =>
      ({ initContainers: [container('first', first)], containers: [container('a', '1'), container('b', '2')] }) as never
    await client.create(pods, pod('fits', {}, spec('3')))
    const { message } = await refusal(client.create(pods, pod('large', {}, spec('4'))))
    expect(message).toContain('maximum cpu usage per Pod is 3, but limit is 4')
  })

  it('says once what is wrong of several containers', async () => {
    const { client } = await startTestCore()
    await client.create(limitRanges, limits('l', { type: 'Container', max: { cpu: '1' } }))
    const containers = ['a', 'b'].map((name) => ({ name, image: 'nginx', resources: { limits: { cpu: '2' } } }))
    expect((await refusal(client.create(pods, pod('a', {}, { containers } as never)))).message).toBe(
      'pods "a" is forbidden: maximum cpu usage per Container is 1, but limit is 2',
    )
  })

  it('holds claims to their size', async () => {
    const { client } = await startTestCore()
    await client.create(
      limitRanges,
      limits('l', { type: 'PersistentVolumeClaim', min: { storage: '1Gi' }, max: { storage: '2Gi' } }),
    )
    const { message } = await refusal(client.create(persistentVolumeClaims, claim('3Gi')))
    expect(message).toBe(
      'persistentvolumeclaims "c" is forbidden: maximum storage usage per PersistentVolumeClaim is 2Gi, but request is 3Gi',
    )
    await client.create(persistentVolumeClaims, claim('2Gi'))
  })

  it('leaves other namespaces alone', async () => {
    const { client } = await startTestCore()
    await client.create(limitRanges, limits('l', { type: 'Container', max: { cpu: '1' } }))
    await createAccount(client, 'default', 'kube-public')
    await client.create(pods, pod('a', { namespace: 'kube-public' }, withResources({ limits: { cpu: '2' } }) as never))
  })
})
