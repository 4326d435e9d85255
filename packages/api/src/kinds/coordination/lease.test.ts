import { expect, it } from 'vitest'
import { columnNames, type Draft, problemsOfCreate, problemsOfUpdate, row } from '../../../test/requests.ts'
import { leases } from './lease.ts'

it.each<readonly [Draft, readonly string[]]>([
  [{}, []],
  [{ holderIdentity: 'a', leaseDurationSeconds: 15, leaseTransitions: 0 }, []],
  [{ leaseDurationSeconds: 0 }, ['spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0']],
  [{ leaseTransitions: -1 }, ['spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0']],
])('says of a lease with %j', (spec, problems) => {
  expect(problemsOfCreate(leases, { spec })).toEqual(problems)
})

const coordinated = { strategy: 'OldestEmulationVersion', preferredHolder: 'a' }

it('is of no coordinated election, which is off unless asked for', () => {
  const lease = (spec: object) => ({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'a' },
    spec,
  })
  const prepared = leases.strategy.prepareForCreate?.(lease({ holderIdentity: 'a', ...coordinated }), 0)
  expect(prepared).toEqual(lease({ holderIdentity: 'a' }))
})

it.each<readonly [Draft, readonly string[]]>([
  [{ strategy: 'OldestEmulationVersion', preferredHolder: 'a' }, []],
  [{ strategy: 'example.com/mine' }, []],
  [
    { strategy: 'Mine' },
    ['spec.strategy.strategy: Unsupported value: "Mine": supported values: "OldestEmulationVersion"'],
  ],
  [{ preferredHolder: 'a' }, ['spec.preferredHolder: Forbidden: may only be specified if `strategy` is defined']],
])('says of a lease that had been of one already, with %j', (spec, problems) => {
  expect(problemsOfUpdate(leases, { spec: coordinated }, { spec })).toEqual(problems)
})

it('shows who holds it', () => {
  expect(columnNames(leases)).toEqual({ shown: ['Name', 'Holder', 'Age'], wide: [] })
  expect(row(leases, { spec: { holderIdentity: 'node-1' } }, 0)).toMatchObject({ Holder: 'node-1' })
})
