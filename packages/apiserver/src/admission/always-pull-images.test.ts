import { type Pod, pods } from '@coracle/api'
import { expect, it } from 'vitest'
import { pod, refusal, startTestCore } from '../testing/test-core.ts'
import type { AdmissionPlugin } from './admission.ts'

const key = { namespace: 'default', name: 'a' }
const containers = [
  { name: 'one', image: 'one:1', imagePullPolicy: 'Never' as const },
  { name: 'two', image: 'two:1' },
]
const policies = ({ spec }: Pod) =>
  [spec.initContainers, spec.containers, spec.ephemeralContainers].map((list) =>
    list?.map(({ imagePullPolicy }) => imagePullPolicy),
  )

it('every container of a pod pulls its image each time', async () => {
  const { client } = await startTestCore({ enabledAdmission: ['AlwaysPullImages'] })
  const created = await client.create(
    pods,
    pod('a', {}, { initContainers: containers, containers: [{ name: 'c', image: 'c:1' }] }),
  )
  expect(policies(created)).toEqual([['Always', 'Always'], ['Always'], undefined])
})

it('every volume that is an image is pulled each time', async () => {
  const { client } = await startTestCore({ enabledAdmission: ['AlwaysPullImages'] })
  const image = (pullPolicy?: 'Never') => ({ reference: 'data:1', ...(pullPolicy && { pullPolicy }) })
  const volumes = [
    { name: 'a', image: image('Never') },
    { name: 'b', image: image() },
    { name: 'c', emptyDir: {} },
  ]
  const { spec } = await client.create(pods, pod('a', {}, { volumes } as Partial<Pod['spec']>))
  expect(spec.volumes?.map(({ image }) => image?.pullPolicy)).toEqual(['Always', 'Always', undefined])
})

it('an update with no new image leaves a pod as it was before there was the plugin', async () => {
  const { client, store } = await startTestCore()
  await client.create(pods, pod('a', {}, { containers }))
  const restarted = await startTestCore({ store, enabledAdmission: ['AlwaysPullImages'] })
  const labelled = await restarted.client.patch(pods, key, {
    type: 'merge',
    body: { metadata: { labels: { a: 'b' } } },
  })
  expect(policies(labelled)[1]).toEqual(['Never', 'IfNotPresent'])
  // The policy of a container is for good, so a new image cannot get another one.
  const renewed = { spec: { containers: [{ name: 'one', image: 'one:2' }] } }
  const refused = await refusal(restarted.client.patch(pods, key, { type: 'strategic', body: renewed }))
  expect(refused.message).toContain('pod updates may not change fields other than')
})

it('what comes after it cannot take that back of a volume either', async () => {
  const volumes = [{ name: 'a', image: { reference: 'data:1', pullPolicy: 'Never' } }]
  const careless: AdmissionPlugin = {
    name: 'Careless',
    mutate: (_attributes, object) =>
      object?.kind !== 'Pod' ? object : ({ ...object, spec: { ...(object as Pod).spec, volumes } } as Pod),
  }
  const { client } = await startTestCore({ enabledAdmission: ['AlwaysPullImages'], admission: [careless] })
  expect((await refusal(client.create(pods, pod('a')))).message).toBe(
    'pods "a" is forbidden: spec.volumes[0].image.pullPolicy: Unsupported value: "Never": supported values: "Always"',
  )
})

it('what comes after it cannot take that back', async () => {
  const careless: AdmissionPlugin = {
    name: 'Careless',
    mutate: (_attributes, object) =>
      object?.kind !== 'Pod' ? object : ({ ...object, spec: { ...(object as Pod).spec, containers } } as Pod),
  }
  const { client } = await startTestCore({ enabledAdmission: ['AlwaysPullImages'], admission: [careless] })
  expect(await refusal(client.create(pods, pod('a')))).toEqual({
    code: 403,
    reason: 'Forbidden',
    message:
      'pods "a" is forbidden: spec.containers[0].imagePullPolicy: Unsupported value: "Never": supported values: "Always"',
  })
})
