import { ApiError, type KubernetesObject } from '@coracle/api'
import type { DiscoveredResource, HttpClient } from '@coracle/client'
import { describe, expect, it } from 'vitest'
import { run } from '../program.ts'
import { recordingHost } from '../testing/recording-host.ts'

const group = 'rbac.authorization.k8s.io'
const resource = (plural: string, kind: string): DiscoveredResource => ({
  ...{ group, version: 'v1', kind, plural, singular: kind.toLowerCase(), namespaced: false },
  ...{ shortNames: [], categories: [], verbs: ['get', 'list'], subresources: [], isPreferredVersion: true },
})

const refusal = (code: number, reason: string) => new ApiError(code, reason, `is refused: ${reason}`)

const role = (verbs: readonly string[]): KubernetesObject =>
  ({
    apiVersion: `${group}/v1`,
    kind: 'ClusterRole',
    metadata: { name: 'reader' },
    rules: [{ apiGroups: [''], resources: ['pods'], verbs }],
  }) as KubernetesObject

const binding = (roleName: string): KubernetesObject =>
  ({
    apiVersion: `${group}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name: 'readers' },
    roleRef: { apiGroup: group, kind: 'ClusterRole', name: roleName },
    subjects: [{ apiGroup: group, kind: 'User', name: 'jane' }],
  }) as KubernetesObject

const withUid = (object: KubernetesObject, uid: string): KubernetesObject => ({
  ...object,
  metadata: { ...object.metadata, uid },
})

/** Reconciles an object; `found` is what the server has each time that it is looked at, `refused` how it refuses each write in turn. */
async function reconciling(
  wanted: KubernetesObject,
  found: readonly (KubernetesObject | undefined)[],
  refused: readonly (string | undefined)[],
) {
  const done: (readonly [string, unknown?])[] = []
  let looks = 0
  const write =
    (verb: string) =>
    async (...[, given, options]: readonly [unknown, KubernetesObject, { readonly preconditions?: object }?]) => {
      const reason = refused[done.length]
      done.push(options?.preconditions === undefined ? [verb] : [verb, options.preconditions])
      if (reason !== undefined) throw refusal(reason === 'NotFound' ? 404 : 409, reason)
      return given
    }
  const client = {
    discover: async () => [
      resource('clusterroles', 'ClusterRole'),
      resource('clusterrolebindings', 'ClusterRoleBinding'),
    ],
    get: async () => {
      const object = found[Math.min(looks++, found.length - 1)]
      if (object === undefined) throw refusal(404, 'NotFound')
      return object
    },
    create: write('create'),
    update: write('update'),
    delete: write('delete'),
  } as unknown as HttpClient
  const recording = recordingHost({ stdin: JSON.stringify(wanted) })
  const host = { ...recording, connect: async () => ({ client, namespace: 'default' }) }
  const code = await run(['auth', 'reconcile', '-f', '-'], host)
  return { code, done, ...recording.written }
}

describe('auth reconcile', () => {
  it('looks again where others have created the role meanwhile', async () => {
    const { code, done, stdout } = await reconciling(role(['get']), [undefined, role(['list'])], ['AlreadyExists'])
    expect([code, done.map(([verb]) => verb)]).toEqual([0, ['create', 'update']])
    expect(stdout).toBe('clusterrole.rbac.authorization.k8s.io/reader reconciled\n')
  })

  it('looks again where others have deleted the role meanwhile', async () => {
    const { code, done } = await reconciling(role(['get']), [role(['list']), undefined], ['NotFound'])
    expect([code, done.map(([verb]) => verb)]).toEqual([0, ['update', 'create']])
  })

  it('puts another in the place of the binding that it has looked at alone', async () => {
    const { code, done } = await reconciling(binding('new'), [withUid(binding('old'), 'one')], [])
    expect([code, done]).toEqual([0, [['delete', { uid: 'one' }], ['create']]])
  })

  it('looks again where others have put another binding there', async () => {
    const others = [withUid(binding('old'), 'one'), withUid(binding('old'), 'two')]
    const { code, done } = await reconciling(binding('new'), others, ['Conflict'])
    expect([code, done]).toEqual([0, [['delete', { uid: 'one' }], ['delete', { uid: 'two' }], ['create']]])
  })

  it('creates a binding that others have deleted', async () => {
    const { code, done } = await reconciling(binding('new'), [withUid(binding('old'), 'one')], ['NotFound'])
    expect([code, done.map(([verb]) => verb)]).toEqual([0, ['delete', 'create']])
  })

  it('gives up where others go on', async () => {
    const { code, done, stderr } = await reconciling(role(['get']), [undefined], Array(9).fill('AlreadyExists'))
    expect([code, done.length, stderr]).toEqual([1, 3, 'error: exceeded maximum attempts\n'])
  })
})
