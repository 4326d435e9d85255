/** Of a request that is wrong in two ways one is told: the one that upstream's handlers come to first. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { apiServerUser } from '../api-server-user.ts'
import { crateDefinition, crateVersion, establish } from '../testing/custom-resources.ts'
import { TestServer } from './testing/test-server.ts'

const configMaps = '/api/v1/namespaces/default/configmaps'
const deployments = '/apis/apps/v1/namespaces/default/deployments'
const crates = '/apis/example.com/v1/namespaces/default/crates'
const podTemplate = {
  metadata: { labels: { a: 'b' } },
  spec: { containers: [{ name: 'main', image: 'image' }] },
}
const noDryRun = /Options.meta.k8s.io "" is invalid: dryRun: Unsupported value/
const noBody = /^the body of the request was in an unknown format/
const noPatch = /^415: Unsupported Media Type$/
const noLabels = /^unable to parse requirement/
const noFields = /^invalid selector: 'a'; can't understand 'a'$/

let server: TestServer
beforeAll(async () => {
  server = await TestServer.start()
  const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }
  await server.call(configMaps, { method: 'POST', body: configMap })
  await establish(server.core.client(apiServerUser), crateDefinition([crateVersion('v1', { storage: true })]))
  const crate = { apiVersion: 'example.com/v1', kind: 'Crate', metadata: { name: 'a' } }
  await server.call(crates, { method: 'POST', body: crate })
})
afterAll(() => server.close())

it.each([
  ['GET', `${configMaps}?labelSelector=%21%21&resourceVersion=x`, noLabels],
  ['GET', `${configMaps}?labelSelector=%21%21&continue=%21`, noLabels],
  ['GET', `${configMaps}?fieldSelector=a&resourceVersion=x&limit=1`, noFields],
  ['GET', `${configMaps}?labelSelector=%21%21&fieldSelector=a&resourceVersionMatch=Other`, noLabels],
  ['GET', `${configMaps}?fieldSelector=a&resourceVersionMatch=Exact`, noFields],
  ['GET', `${configMaps}?watch=1&fieldSelector=a&sendInitialEvents=true`, noFields],
  ['GET', `${configMaps}?watch=1&labelSelector=%21%21&resourceVersion=x`, noLabels],
  ['GET', `${configMaps}?limit=x&timeoutSeconds=y&labelSelector=%21%21`, /^strconv.ParseInt: parsing "y"/],
  ['GET', `${configMaps}?resourceVersionMatch=Exact&labelSelector=a`, /ListOptions.meta.k8s.io "" is invalid/],
  ['DELETE', `${configMaps}?labelSelector=%21%21&dryRun=x`, noLabels],
  ['DELETE', `${configMaps}?limit=x&dryRun=x`, /^strconv.ParseInt: parsing "x"/],
  ['DELETE', `${configMaps}?resourceVersionMatch=Exact&dryRun=x`, /ListOptions.meta.k8s.io "" is invalid/],
])('%s %s', async (method, path, message) => {
  expect((await server.call(path, { method })).json.message).toMatch(message)
})

it.each([
  ['POST', configMaps, 'text/plain', noBody],
  ['PUT', `${configMaps}/a`, 'text/plain', noDryRun],
  ['PATCH', `${configMaps}/a`, 'text/plain', noPatch],
  ['POST', '/api/v1/namespaces/default/pods/web/eviction', 'text/plain', noBody],
  ['PUT', `${deployments}/web/scale`, 'text/plain', noDryRun],
  ['PATCH', `${deployments}/web/scale`, 'text/plain', noPatch],
  ['PUT', `${configMaps}/a`, 'application/json', noDryRun],
])('an unknown dry run and a body of a type: %s %s as %s', async (method, path, type, message) => {
  const call = { method, body: Buffer.from('{'), headers: { 'content-type': type } }
  expect((await server.call(`${path}?dryRun=Some`, call)).json.message).toMatch(message)
})

it.each([`${configMaps}/a`, `${deployments}/web/scale`])('a patch and an answer of unknown types: %s', async (path) => {
  const headers = { 'content-type': 'text/plain', accept: 'text/plain' }
  expect((await server.call(path, { method: 'PATCH', body: Buffer.from('{'), headers })).code).toBe(415)
})

const badCount =
  /^Scale.autoscaling "web" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0$/
const otherUid =
  /^Operation cannot be fulfilled on deployments.apps "web": StorageError: .*Precondition failed: UID in precondition: x/

it.each([
  ['PUT', 'none', {}, 404, /^deployments.apps "none" not found$/],
  [
    'PUT',
    'web',
    { name: 'other' },
    400,
    /^the name of the object \(other\) does not match the name on the URL \(web\)$/,
  ],
  ['PUT', 'web', { uid: 'x' }, 409, otherUid],
  ['PUT', 'web', { resourceVersion: '1' }, 422, badCount],
  ['PATCH', 'web', { name: 'other' }, 400, /^the name of the object \(other\)/],
  ['PATCH', 'web', { uid: 'x' }, 422, badCount],
  ['PATCH', 'web', { resourceVersion: '1' }, 422, badCount],
])('a count below zero: %s of the scale of %s with %j', async (method, name, metadata, code, message) => {
  const spec = { selector: { matchLabels: { a: 'b' } }, template: podTemplate }
  await server.call(deployments, { method: 'POST', body: { metadata: { name: 'web' }, spec } })
  const body = { metadata: { name, ...metadata }, spec: { replicas: -1 } }
  const headers = { 'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json' }
  const answer = await server.call(`${deployments}/${name}/scale`, { method, body, headers })
  expect([answer.code, answer.json.message]).toEqual([code, expect.stringMatching(message)])
})

const stale = /^Operation cannot be fulfilled on crates.example.com "a": the object has been modified/
const noVersion =
  /^crates.example.com "a" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update$/
const otherKind = /^Other.example.com "a" is invalid: kind: Invalid value: "Other": must be Crate$/

// Built-in kinds are told of their kind when a body is read; custom ones when the object is checked.
it.each([
  ['PUT', 'a', { resourceVersion: '1' }, 409, stale],
  ['PUT', 'a', { resourceVersion: 'x' }, 500, /^strconv.ParseUint: parsing "x": invalid syntax$/],
  ['PUT', 'a', {}, 422, noVersion],
  ['PUT', 'none', { resourceVersion: '1' }, 404, /^crates.example.com "none" not found$/],
  ['PUT', 'a', { name: 'b' }, 400, /^the name of the object \(b\) does not match the name on the URL \(a\)$/],
  ['PATCH', 'a', { resourceVersion: '1' }, 409, stale],
  ['PATCH', 'a', {}, 422, otherKind],
  ['POST', '', { name: 'a', resourceVersion: '1' }, 422, otherKind],
  ['POST', '', { name: 'a', namespace: 'other' }, 400, /^the namespace of the provided object does not match/],
])('a custom object of another kind: %s %s with %j', async (method, name, metadata, code, message) => {
  const named = method === 'POST' ? metadata : { name, ...metadata }
  const body = { apiVersion: 'example.com/v1', kind: 'Other', metadata: named }
  const headers = { 'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json' }
  const answer = await server.call(name === '' ? crates : `${crates}/${name}`, { method, body, headers })
  expect([answer.code, answer.json.message]).toEqual([code, expect.stringMatching(message)])
})

it('a custom object of another kind and the version that is there', async () => {
  const { json } = await server.call(`${crates}/a`)
  const body = { ...json, kind: 'Other' }
  const answer = await server.call(`${crates}/a`, { method: 'PUT', body })
  expect([answer.code, answer.json.message]).toEqual([422, expect.stringMatching(otherKind)])
  expect((await server.call(`${crates}/a`)).json).toEqual(json)
})
