import { expect, it } from 'vitest'
import { problemsOfCreate, problemsOfUpdate } from '../../../test/requests.ts'
import { leases } from '../coordination/lease.ts'
import { configMaps } from './config-map.ts'
import { namespaces } from './namespace.ts'
import { nodes } from './node/node.ts'
import { pods } from './pod/pod.ts'
import { replicationControllers } from './replication-controller/replication-controller.ts'
import { secrets } from './secret.ts'
import { serviceAccounts } from './service-account.ts'

const metadata = { name: 'x', finalizers: ['example.com/mine', 'orphan', 'mine'] }
const refused =
  'metadata.finalizers[2]: Invalid value: "mine": name is neither a standard finalizer name nor is it fully qualified'

it.each([
  ['configmaps', configMaps],
  ['namespaces', namespaces],
  ['nodes', nodes],
  ['pods', pods],
  ['replicationcontrollers', replicationControllers],
  ['secrets', secrets],
  ['serviceaccounts', serviceAccounts],
] as const)('lets finalizers of %s be standard ones or have a prefix', (_, definition) => {
  expect(problemsOfCreate<never>(definition as never, { metadata })).toContain(refused)
  expect(problemsOfUpdate<never>(definition as never, {}, { metadata })).toContain(refused)
})

it('does not ask that of kinds outside the core group', () => {
  expect(problemsOfCreate(leases, { metadata })).toEqual([])
})
