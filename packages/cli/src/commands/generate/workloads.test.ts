import { seededRandom } from '@coracle/environment'
import { expect, it } from 'vitest'
import { generateDeployment, generatePod } from './workloads.ts'

it.each([
  ['redis:7', /^redis$/],
  ['example.com:5000/team/web@sha256:1', /^web$/],
  ['example/my_web.server:1', /^my-web-server-[bcdfghjklmnpqrstvwxz2456789]{5}$/],
  ['a.b', /^a-b-[bcdfghjklmnpqrstvwxz2456789]{5}$/],
])('names the container of image %s', (image, name) => {
  const flags = { image: [image, image], replicas: 1 }
  const { spec } = generateDeployment('web', [], flags, seededRandom(1)) as unknown as {
    readonly spec: {
      readonly template: { readonly spec: { readonly containers: readonly { readonly name: string }[] } }
    }
  }
  const names = spec.template.spec.containers.map((each) => each.name)
  for (const each of names) expect(each).toMatch(name)
  // What has an ending is told apart from its like by it.
  expect(new Set(names).size).toBe(name.source.includes('{5}') ? 2 : 1)
})

it('has no empty values of variables, as Go writes them', () => {
  const flags = { image: 'x', env: ['A=', 'B=1'], annotations: [], restart: '' }
  expect(generatePod('web', [], flags)).toMatchObject({
    spec: { containers: [{ env: [{ name: 'A' }, { name: 'B', value: '1' }] }] },
  })
  expect(JSON.stringify(generatePod('web', [], flags))).not.toContain('"value":""')
})
