import { type ConfigMap, parseTime, type Secret, type ServiceAccount } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { type Observed, planTokenCleanup } from './plan.ts'

const nowMs = parseTime('2024-03-01T12:00:00Z')
/** A year before. */
const limit = '2023-03-02'
const before = '2023-03-01'

const tracking = (since?: string): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'kube-apiserver-legacy-service-account-token-tracking', namespace: 'kube-system' },
  ...(since !== undefined && { data: { since } }),
})

interface Described {
  readonly lastUsed?: string
  readonly invalidSince?: string
  readonly created?: string
  readonly account?: string
  readonly uid?: string
  readonly changes?: Partial<Secret>
}

const secretOf = ({
  lastUsed,
  invalidSince,
  created = '2022-01-01',
  account = 'default',
  uid = '1',
  changes,
}: Described) =>
  ({
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'kubernetes.io/service-account-token',
    metadata: {
      name: 'token',
      namespace: 'default',
      uid: '9',
      resourceVersion: '7',
      creationTimestamp: `${created}T00:00:00Z`,
      annotations: { 'kubernetes.io/service-account.name': account, 'kubernetes.io/service-account.uid': uid },
      labels: {
        ...(lastUsed !== undefined && { 'kubernetes.io/legacy-token-last-used': lastUsed }),
        ...(invalidSince !== undefined && { 'kubernetes.io/legacy-token-invalid-since': invalidSince }),
      },
      ...changes?.metadata,
    },
    ...(changes?.type !== undefined && { type: changes.type }),
  }) as Secret

const account: ServiceAccount = {
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { name: 'default', namespace: 'default', uid: '1' },
  secrets: [{ name: 'token' }],
}

const plan = (described: Described, observed: Partial<Observed> = {}) =>
  planTokenCleanup(
    {
      tracking: tracking('2022-01-01'),
      secrets: [secretOf(described)],
      accountNamed: (_namespace, name) => (name === 'default' ? account : undefined),
      namedByPods: () => new Set(),
      ...observed,
    },
    nowMs,
  )

describe('a token that nobody uses', () => {
  it.each<[string, Described]>([
    ['for a year', { lastUsed: before }],
    ['at all', {}],
    ['and that is refused since no day', { invalidSince: '2022-12-29-1' }],
  ])('%s is refused from now on', (_, described) => {
    expect(plan(described)).toEqual([
      {
        type: 'patch',
        resource: expect.objectContaining({ plural: 'secrets' }),
        key: { namespace: 'default', name: 'token' },
        patch: {
          type: 'merge',
          body: { metadata: { uid: '9', labels: { 'kubernetes.io/legacy-token-invalid-since': '2024-03-01' } } },
        },
        because: 'nobody has used its token for a year',
      },
    ])
  })

  it.each([{ invalidSince: before }, { lastUsed: before, invalidSince: before }])('goes a year later', (described) => {
    expect(plan(described)).toMatchObject([{ type: 'delete', uid: '9', resourceVersion: '7' }])
  })

  it.each<[string, Described]>([
    ['is refused for less than a year', { invalidSince: limit }],
    ['is used now and then', { lastUsed: limit }],
    ['was used on no day', { lastUsed: '2022-12-27-1' }],
    ['was made later', { created: '2023-03-03' }],
    ['is on its way out', { changes: { metadata: { deletionTimestamp: '2024-03-01T00:00:00Z' } } }],
    ['is of no account', { account: '' }],
    ['is of an account that is not there', { account: 'other' }],
    ['is of another account of that name', { uid: '2' }],
    ['is no token', { changes: { type: 'Opaque', metadata: {} } }],
  ])('stays as it is where it %s', (_, described) => {
    expect(plan(described)).toEqual([])
  })

  it('stays as it is where somebody has made it by hand: its account does not name it', () => {
    expect(plan({}, { accountNamed: () => ({ ...account, secrets: [] }) })).toEqual([])
  })

  it('stays as it is where a pod names its Secret', () => {
    expect(plan({}, { namedByPods: () => new Set(['token']) })).toEqual([])
  })

  it.each([
    ['where nothing is noted', undefined],
    ['where it is not said since when uses are noted', tracking()],
    ['where that is no day', tracking('2022-12-27-1')],
    ['where uses are noted for less than a year and a day', tracking(limit)],
  ])('stays as it is %s', (_, since) => {
    expect(plan({}, { tracking: since })).toEqual([])
    expect(plan({}, { tracking: tracking(before) })).toHaveLength(1)
  })
})
