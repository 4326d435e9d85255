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

it('warns of a mark that has no meaning any more, when it is set', () => {
  const plain = created(serviceAccounts, {})
  const annotations = { 'kubernetes.io/enforce-mountable-secrets': 'true' }
  const marked = { ...plain, metadata: { ...plain.metadata, annotations } }
  const { warnings } = serviceAccounts.strategy
  const warning =
    'metadata.annotations[kubernetes.io/enforce-mountable-secrets]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets'
  expect([warnings?.(marked, undefined), warnings?.(marked, plain)]).toEqual([[warning], [warning]])
  expect([warnings?.(marked, marked), warnings?.(plain, undefined)]).toEqual([[], []])
})
