import { describe, expect, it } from 'vitest'
import { attributesOf, checkPathName, routeOf } from './routes.ts'

const route = (method: string, path: string, watches = false) => routeOf(method, path, () => watches)
const resource = (fields: object) => ({
  kind: 'resource',
  group: '',
  version: 'v1',
  namespace: '',
  name: '',
  subresource: '',
  deeper: false,
  ...fields,
})

describe('routeOf', () => {
  it.each([
    ['GET', '/api/v1/pods', { verb: 'list', plural: 'pods' }],
    ['HEAD', '/api/v1/nodes/n1', { verb: 'get', plural: 'nodes', name: 'n1' }],
    ['POST', '/api/v1/namespaces/a/pods', { verb: 'create', plural: 'pods', namespace: 'a' }],
    ['PUT', '/api/v1/namespaces/a/pods/p', { verb: 'update', plural: 'pods', namespace: 'a', name: 'p' }],
    [
      'PATCH',
      '/api/v1/namespaces/a/pods/p/status',
      { verb: 'patch', plural: 'pods', namespace: 'a', name: 'p', subresource: 'status' },
    ],
    ['DELETE', '/api/v1/namespaces/a/pods', { verb: 'deletecollection', plural: 'pods', namespace: 'a' }],
    ['DELETE', '/api/v1/namespaces/a/pods/p/', { verb: 'delete', plural: 'pods', namespace: 'a', name: 'p' }],
    ['GET', '/api/v1/namespaces', { verb: 'list', plural: 'namespaces' }],
    ['GET', '/api/v1/namespaces/a', { verb: 'get', plural: 'namespaces', namespace: 'a', name: 'a' }],
    [
      'PUT',
      '/api/v1/namespaces/a/finalize',
      { verb: 'update', plural: 'namespaces', namespace: 'a', name: 'a', subresource: 'finalize' },
    ],
    [
      'GET',
      '/apis/apps/v1/namespaces/a/deployments/d/scale',
      { verb: 'get', group: 'apps', plural: 'deployments', namespace: 'a', name: 'd', subresource: 'scale' },
    ],
    ['GET', '/api/v1/watch/pods', { verb: 'watch', plural: 'pods' }],
    ['GET', '/api/v1/watch/namespaces/a/pods/p', { verb: 'watch', plural: 'pods', namespace: 'a', name: 'p' }],
    ['GET', '/api/v1/watch/namespaces/a', { verb: 'watch', plural: 'namespaces', namespace: 'a', name: 'a' }],
    ['DELETE', '/api/v1/watch/pods', { verb: '', plural: 'pods' }],
    ['GET', '/api/v1/namespaces/a%2Fpods', { verb: 'list', plural: 'pods', namespace: 'a' }],
    ['GET', '/api/v1/nodes/%ff', { verb: 'get', plural: 'nodes', name: '\ufffd' }],
    ['GET', '/api/v1/nodes/a%20b', { verb: 'get', plural: 'nodes', name: 'a b' }],
    [
      'GET',
      '/api/v1/namespaces/a/pods/p/proxy/x',
      { verb: 'get', plural: 'pods', namespace: 'a', name: 'p', subresource: 'proxy', deeper: true },
    ],
  ])('reads %s %s', (method, path, expected) => {
    expect(route(method, path)).toEqual(resource(expected))
  })

  it.each([
    '/api/v1/namespaces/a/namespaces',
    '/api/v1/namespaces/a/namespaces/a',
    '/api/v1/namespaces/a/finalize/x',
    '/api/v1/watch/namespaces/a/pods/p/status',
  ])('knows that nothing is at %s', (path) => {
    expect(route('GET', path)).toMatchObject({ deeper: true })
  })

  it('takes the read of a collection with watch for a watch, that of an object not', () => {
    expect(route('GET', '/api/v1/pods', true)).toMatchObject({ verb: 'watch' })
    expect(route('GET', '/api/v1/namespaces/a/pods/p', true)).toMatchObject({ verb: 'get' })
  })

  it.each([
    '/',
    '/api',
    '/api/v1',
    '/apis',
    '/apis/apps',
    '/apis/apps/v1',
    '/healthz',
    '/openapi/v3/api/v1',
    '//api/v1/pods',
  ])('takes %s for no resource', (path) => {
    expect(route('GET', path)).toEqual({ kind: 'path', verb: 'get', path })
  })

  it.each([
    ['.', "be '.'"],
    ['..', "be '..'"],
    ['a%b', "contain '%'"],
  ])('refuses the name %j, which could be in no path', (name, why) => {
    expect(() => checkPathName(name)).toThrow(`Name parameter invalid: "${name}": may not ${why}`)
  })

  it('refuses an escape that stands for nothing', () => {
    expect(() => route('GET', '/api/v1/nodes/%zz')).toThrow('invalid URL escape "%zz"')
  })
})

describe('attributesOf', () => {
  const asked = (method: string, path: string, watches = false) => {
    const found = route(method, path, watches)
    if (found.kind === 'path') throw new Error(`no resource: ${path}`)
    const attributes = attributesOf(found, undefined, () => 'metadata.name=a')
    return attributes.kind === 'resource' ? { name: attributes.name, fieldSelector: attributes.fieldSelector } : {}
  }

  it.each([
    ['a list', 'GET', '/api/v1/pods', false, { name: 'a', fieldSelector: 'metadata.name=a' }],
    ['a watch', 'GET', '/api/v1/pods', true, { name: 'a', fieldSelector: 'metadata.name=a' }],
    // Which has no name, even so.
    ['a deletion of a collection', 'DELETE', '/api/v1/nodes', false, { name: '', fieldSelector: 'metadata.name=a' }],
    ['a deletion of one object', 'DELETE', '/api/v1/nodes/b', false, { name: 'b', fieldSelector: undefined }],
  ] as const)('has of %s what is selected', (_, method, path, watches, expected) => {
    expect(asked(method, path, watches)).toEqual(expected)
  })
})
