import { expect, it } from 'vitest'
import { columnNames, created, problemsOfCreate } from '../../../test/requests.ts'
import { serviceAccounts } from './service-account.ts'

it('keeps only the names of its secrets', () => {
  const secrets = [{ name: 'a', namespace: 'other', kind: 'Secret' }, { name: 'b' }]
  expect(created(serviceAccounts, { secrets }).secrets).toEqual([{ name: 'a' }, { name: 'b' }])
})

it('may name a secret twice', () => {
  expect(problemsOfCreate(serviceAccounts, { secrets: [{ name: 'a' }, { name: 'a' }] })).toEqual([])
})

it('shows its age', () => {
  expect(columnNames(serviceAccounts)).toEqual({ shown: ['Name', 'Age'], wide: [] })
})
