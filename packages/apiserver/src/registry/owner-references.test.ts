import { afterEach, beforeEach, expect, it } from 'vitest'
import { TestServer } from '../http/testing/test-server.ts'
import { configMap } from '../testing/test-core.ts'

let server: TestServer
beforeEach(async () => {
  server = await TestServer.start()
})
afterEach(() => server.close())

const path = '/api/v1/namespaces/default/configmaps'
const owner = { apiVersion: 'v1', kind: 'Pod', name: 'a', uid: 'u' }
const other = { ...owner, controller: false }

async function send(method: string, to: string, body: object, type = 'application/json') {
  const { json, headers } = await server.call(to, { method, body, headers: { 'content-type': type } })
  return { owners: json.metadata.ownerReferences, warning: headers.warning }
}

it('an owner that is named twice in the same words is kept once, with a warning', async () => {
  const asGiven =
    '299 - ".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: u, u"'
  const body = configMap('a', {}, { ownerReferences: [owner, other, owner, other] })
  expect(await send('POST', path, body)).toEqual({ owners: [owner, other], warning: asGiven })
  expect(await send('PUT', `${path}/a`, body)).toEqual({ owners: [owner, other], warning: asGiven })
  const patch = { metadata: { ownerReferences: [owner, owner] } }
  expect(await send('PATCH', `${path}/a`, patch, 'application/merge-patch+json')).toEqual({
    owners: [owner],
    warning:
      '299 - ".metadata.ownerReferences contains duplicate entries after mutating admission happens; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: u"',
  })
})
