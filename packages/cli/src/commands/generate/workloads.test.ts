import { seededRandom } from '@coracle/environment'
import { expect, it } from 'vitest'
import { generateDeployment } from './workloads.ts'

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
