/** What upstream 1.36.2 answered to the same wrong requests. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { TestServer } from './testing/test-server.ts'

const namespace = '/api/v1/namespaces/default'
const container = { name: 'a', image: 'b' }
const binding = { apiVersion: 'v1', kind: 'Binding' }
const target = { kind: 'Node', name: 'n' }
const access = { verb: 'get', resource: 'pods', namespace: 'default' }
const review = { apiVersion: 'authorization.k8s.io/v1', spec: { user: 'a', resourceAttributes: access } }
const authorization = '/apis/authorization.k8s.io/v1'
const deployments = '/apis/apps/v1/namespaces/default/deployments'

let server: TestServer
const post = (path: string, body: object) => server.call(path, { method: 'POST', body })
beforeAll(async () => {
  server = await TestServer.start()
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web' }, spec: { containers: [container] } }
  await post(`${namespace}/pods`, pod)
  await post(`${namespace}/configmaps`, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } })
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [container] } }
  await post(deployments, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web' },
    spec: { selector: { matchLabels: { a: 'b' } }, template },
  })
})
afterAll(() => server.close())

it.each([
  [{ metadata: { name: 'web' } }, 500, 'target.name: Required value'],
  [
    { metadata: { name: 'web' }, target: { kind: 'Cat' } },
    500,
    '[target.kind: Unsupported value: "Cat": supported values: "Node", "<empty>", target.name: Required value]',
  ],
  [
    { metadata: { name: 'web', namespace: 'other' }, target },
    400,
    'the namespace of the provided object does not match the namespace sent on the request',
  ],
])('a binding of a pod: %j', async (part, code, message) => {
  const { code: status, json } = await post(`${namespace}/pods/web/binding`, { ...binding, ...part })
  expect([status, json.message]).toEqual([code, message])
})

it.each([
  [{}, 500, 'target.name: Required value'],
  [{ target }, 400, 'Name parameter required.'],
  [
    { metadata: 5, target },
    400,
    'Binding in version "v1" cannot be handled as a Binding: json: cannot unmarshal number into Go struct field Binding.metadata of type v1.ObjectMeta',
  ],
  [
    { kind: 'Other' },
    400,
    'Other in version "v1" cannot be handled as a Binding: no kind "Other" is registered for version "v1" in scheme "pkg/api/legacyscheme/scheme.go:30"',
  ],
  [
    { metadata: { name: 'web', namespace: 'other' }, target },
    400,
    'the namespace of the provided object does not match the namespace sent on the request',
  ],
])('a binding that names its pod: %j', async (part, code, message) => {
  const { code: status, json } = await post(`${namespace}/bindings`, { ...binding, ...part })
  expect([status, json.message]).toEqual([code, message])
})

it('an eviction of another namespace', async () => {
  const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'web', namespace: 'other' } }
  const { code: status, json } = await post(`${namespace}/pods/web/eviction`, eviction)
  expect([status, json.message]).toEqual([
    400,
    'the namespace of the provided object does not match the namespace sent on the request',
  ])
})

it.each([{}, { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview' }])(
  'a review of no token: %j',
  async (body) => {
    const { code: status, json } = await post('/apis/authentication.k8s.io/v1/tokenreviews', body)
    expect([status, json.message]).toEqual([400, 'token is required for TokenReview in authentication'])
  },
)

it('metadata of a review, of which what servers write does not count', async () => {
  const local = `${authorization}/namespaces/default/localsubjectaccessreviews`
  const of = { ...review, kind: 'LocalSubjectAccessReview' }
  expect((await post(local, { ...of, metadata: { uid: 'other' } })).code).toBe(201)
  const { code: status, json } = await post(local, { ...of, metadata: { name: 'other' } })
  expect([status, json.message]).toEqual([
    422,
    '.authorization.k8s.io "" is invalid: metadata: Invalid value: {"name":"other","namespace":"default"}: must be empty except for namespace',
  ])
  const cluster = `${authorization}/subjectaccessreviews`
  expect((await post(cluster, { ...review, kind: 'SubjectAccessReview', metadata: { uid: 'x' } })).code).toBe(201)
})

it.each(['', 's?labelSelector=none'])('a delete in a query for another version is a conflict (%s)', async (rest) => {
  const path = rest === '' ? `${namespace}/configmaps/a?resourceVersion=x` : `${namespace}/configmaps?resourceVersion=0`
  const { code: status, json } = await server.call(path, { method: 'DELETE' })
  expect(status).toBe(409)
  expect(json.message).toContain('the ResourceVersion in the precondition (')
})

it('a scale of no version that there is', async () => {
  const { code: status, json } = await server.call(`${deployments}/web/scale`, {
    method: 'PUT',
    body: { apiVersion: 'v9', kind: 'Scale' },
  })
  expect([status, json.message]).toEqual([
    400,
    'Scale in version "v9" cannot be handled as a Scale: no kind "Scale" is registered for version "v9" in scheme "pkg/api/legacyscheme/scheme.go:30"',
  ])
})

it('a log of one stream', async () => {
  const { code: status, json } = await server.call(`${namespace}/pods/web/log?stream=All`)
  expect([status, json.message]).toEqual([
    422,
    'PodLogOptions "web" is invalid: stream: Forbidden: may not be specified',
  ])
})

it.each([
  [
    { 'impersonate-group': 'x' },
    'requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"x"}, Extra:map[string][]string(nil)} without impersonating a user name',
  ],
  [
    { 'impersonate-extra-a': 'x' },
    'requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string(nil), Extra:map[string][]string{"a":[]string{"x"}}} without impersonating a user name',
  ],
])('an impersonation of nobody: %j', async (headers, message) => {
  const { code: status, json } = await server.call(`${namespace}/configmaps`, { headers })
  expect([status, json.message]).toEqual([400, message])
})

it.each([
  ['GET', `${namespace}/bindings`, 405],
  ['GET', `${namespace}/bindings/a`, 404],
  ['PUT', `${namespace}/bindings/a`, 404],
  ['DELETE', `${namespace}/bindings/a`, 404],
  ['POST', `${namespace}/bindings/a`, 404],
  ['GET', '/api/v1/bindings', 404],
  ['POST', '/api/v1/bindings', 404],
  ['GET', `${authorization}/subjectaccessreviews`, 405],
  ['GET', `${authorization}/subjectaccessreviews/a`, 404],
  ['POST', `${authorization}/namespaces/default/subjectaccessreviews`, 404],
])('what a kind that is only posted does not have: %s %s', async (method, path, code) => {
  const { code: status, json } = await server.call(path, { method, ...(method === 'GET' ? {} : { body: {} }) })
  const reason = code === 404 ? 'NotFound' : 'MethodNotAllowed'
  expect([status, json.reason, json.details]).toEqual([code, reason, {}])
})
