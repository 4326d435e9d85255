import { namespaces, pods } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { pod, refusal, startTestCore } from '../testing/test-core.ts'

async function startWith(selector: string | undefined) {
  const { client } = await startTestCore({ enabledAdmission: ['PodNodeSelector'] })
  const annotations = selector === undefined ? {} : { 'scheduler.alpha.kubernetes.io/node-selector': selector }
  await client.patch(namespaces, { name: 'default' }, { type: 'merge', body: { metadata: { annotations } } })
  const create = (nodeSelector?: Readonly<Record<string, string>>) =>
    client.create(pods, pod('a', {}, nodeSelector === undefined ? {} : { nodeSelector }))
  return { client, create }
}

describe('PodNodeSelector', () => {
  it.each([
    [undefined, undefined, undefined],
    [undefined, { test: 'a' }, { test: 'a' }],
    ['', { test: 'a' }, { test: 'a' }],
    ['infra=false', undefined, { infra: 'false' }],
    ['infra=false', { test: 'a' }, { infra: 'false', test: 'a' }],
    ['infra = false, test=a', { test: 'a' }, { infra: 'false', test: 'a' }],
  ])('with %j of its namespace and %j of its own, a pod has %j', async (selector, own, expected) => {
    const { create } = await startWith(selector)
    expect((await create(own)).spec.nodeSelector).toEqual(expected)
  })

  it('refuses a pod that asks for other nodes', async () => {
    const { create } = await startWith('infra=false')
    expect(await refusal(create({ infra: 'true' }))).toEqual({
      code: 403,
      reason: 'Forbidden',
      message: 'pods "a" is forbidden: pod node label selector conflicts with its namespace node label selector',
    })
  })

  it('cannot tell what to do where it cannot read the annotation', async () => {
    const { create } = await startWith('infra=false=true')
    expect(await refusal(create())).toMatchObject({ code: 500, message: 'invalid selector: [infra false true]' })
  })

  it('looks at pods as they are created, and not as they change', async () => {
    const { client, create } = await startWith(undefined)
    await create({ infra: 'true' })
    const annotations = { 'scheduler.alpha.kubernetes.io/node-selector': 'infra=false' }
    await client.patch(namespaces, { name: 'default' }, { type: 'merge', body: { metadata: { annotations } } })
    const body = { metadata: { labels: { a: 'b' } } }
    await client.patch(pods, { namespace: 'default', name: 'a' }, { type: 'merge', body })
  })
})
