/** What upstream 1.36.2 answered to values of wrong types, with the names of its types. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { TestServer } from './testing/test-server.ts'

let server: TestServer
beforeAll(async () => {
  server = await TestServer.start()
})
afterAll(() => server.close())

const namespace = '/api/v1/namespaces/default'
const pod = (spec: object) => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' }, spec })

it('name the type of a text, and the struct within which a field stands', async () => {
  const create = async (spec: object) =>
    (await server.call(`${namespace}/pods`, { method: 'POST', body: pod(spec) })).json.message
  expect(await create({ restartPolicy: 5 })).toBe(
    'Pod in version "v1" cannot be handled as a Pod: json: cannot unmarshal number into Go struct field PodSpec.spec.restartPolicy of type v1.RestartPolicy',
  )
  expect(await create({ volumes: [{ hostPath: { type: 5 } }] })).toBe(
    'Pod in version "v1" cannot be handled as a Pod: json: cannot unmarshal number into Go struct field HostPathVolumeSource.spec.volumes.VolumeSource.hostPath.type of type v1.HostPathType',
  )
})

it('name it in what is said of a patch, of a subresource and of options', async () => {
  await server.call(`${namespace}/serviceaccounts`, {
    method: 'POST',
    body: { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'a' } },
  })
  const path = `${namespace}/configmaps/a`
  await server.call(`${namespace}/configmaps`, {
    method: 'POST',
    body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } },
  })
  const patched = await server.call(path, {
    method: 'PATCH',
    headers: { 'content-type': 'application/merge-patch+json' },
    body: { metadata: { uid: 5 } },
  })
  expect(patched.json.message).toContain(
    'json: cannot unmarshal number into Go struct field ObjectMeta.metadata.uid of type types.UID',
  )
  const deleted = await server.call(path, { method: 'DELETE', body: { preconditions: { uid: 5 } } })
  expect(deleted.json.message).toBe(
    'json: cannot unmarshal number into Go struct field Preconditions.preconditions.uid of type types.UID',
  )
  const token = await server.call(`${namespace}/serviceaccounts/a/token`, {
    method: 'POST',
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { boundObjectRef: { uid: 5 } } },
  })
  expect(token.json.message).toContain(
    'json: cannot unmarshal number into Go struct field BoundObjectReference.spec.boundObjectRef.uid of type types.UID',
  )
})

it.each([
  [{ spec: { restartPolicy: 5 } }, 'cannot convert int64 to v1.RestartPolicy'],
  [{ spec: { restartPolicy: ['a'] } }, 'unrecognized type: string'],
  [{ spec: { overhead: 'a' } }, 'cannot restore map from string'],
  [{ spec: { hostname: 5 } }, 'cannot convert int64 to string'],
  [{ metadata: 'a' }, 'cannot restore struct from: string'],
])('are told of strategic patches in the words of a conversion: %j', async (body, problem) => {
  await server.call(`${namespace}/pods`, { method: 'POST', body: pod({ containers: [{ name: 'a', image: 'b' }] }) })
  const { json } = await server.call(`${namespace}/pods/a`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/strategic-merge-patch+json' },
    body,
  })
  expect(json.message).toMatch(new RegExp(`: ${problem}$`))
})
