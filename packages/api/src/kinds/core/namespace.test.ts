import { describe, expect, it } from 'vitest'
import { columnNames, created, decoded, problemsOfCreate, problemsOfStatus, row } from '../../../test/requests.ts'
import { describeFieldError } from '../../field-error.ts'
import { namespaces, validateNamespace } from './namespace.ts'

describe('a new namespace', () => {
  it('is active, held by a finalizer, and found by its name', () => {
    expect(created(namespaces, { metadata: { name: 'shop' }, status: { phase: 'Terminating' } })).toMatchObject({
      metadata: { labels: { 'kubernetes.io/metadata.name': 'shop' } },
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Active' },
    })
  })

  it('keeps other finalizers and labels', () => {
    const draft = { metadata: { name: 'shop', labels: { a: 'b' } }, spec: { finalizers: ['example.com/x'] } }
    const namespace = created(namespaces, draft)
    expect(namespace.spec?.finalizers).toEqual(['example.com/x', 'kubernetes'])
    expect(namespace.metadata.labels).toEqual({ a: 'b', 'kubernetes.io/metadata.name': 'shop' })
  })
})

it('keeps its finalizers and its name label through an update', () => {
  const old = created(namespaces, { metadata: { name: 'shop' } })
  const update = decoded(namespaces, { metadata: { name: 'shop', labels: { 'kubernetes.io/metadata.name': 'x' } } })
  const updated = namespaces.strategy.prepareForUpdate?.(update, old, 0)
  expect(updated?.spec?.finalizers).toEqual(['kubernetes'])
  expect(updated?.metadata.labels).toEqual({ 'kubernetes.io/metadata.name': 'shop' })
})

it('keeps its spec through an update of the status', () => {
  const old = created(namespaces, { metadata: { name: 'shop' } })
  const update = decoded(namespaces, { metadata: { name: 'shop' }, status: { phase: 'Active' } })
  expect(namespaces.strategy.prepareForStatusUpdate?.(update, old, 0).spec).toBe(old.spec)
})

describe('validation of a namespace', () => {
  it.each([
    ['kubernetes', []],
    ['example.com/mine', []],
    [
      'mine',
      ['spec.finalizers: Invalid value: "mine": name is neither a standard finalizer name nor is it fully qualified'],
    ],
    [
      'a b',
      [
        "spec.finalizers: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
        'spec.finalizers: Invalid value: "a b": name is neither a standard finalizer name nor is it fully qualified',
      ],
    ],
  ])('says of the finalizer %s', (finalizer, problems) => {
    expect(problemsOfCreate(namespaces, { spec: { finalizers: [finalizer] } })).toEqual(problems)
  })

  it('names the finalizer, not the list, where it is the finalize subresource that gives it', () => {
    const namespace = decoded(namespaces, { spec: { finalizers: ['example.com/mine', 'mine'] } })
    expect(validateNamespace(namespace).map(describeFieldError)).toEqual([
      'spec.finalizers[1]: Invalid value: "mine": name is neither a standard finalizer name nor is it fully qualified',
    ])
  })

  const deletionTimestamp = '2026-01-01T00:00:00Z'
  it.each([
    ['Active', undefined, []],
    ['Terminating', deletionTimestamp, []],
    [
      'Terminating',
      undefined,
      ['status.Phase: Invalid value: "Terminating": may only be \'Active\' if `deletionTimestamp` is empty'],
    ],
    [
      'Active',
      deletionTimestamp,
      ['status.Phase: Invalid value: "Active": may only be \'Terminating\' if `deletionTimestamp` is not empty'],
    ],
  ])('says of the phase %s with a deletion at %s', (phase, deleted, problems) => {
    const metadata = { name: 'x', ...(deleted === undefined ? {} : { deletionTimestamp: deleted }) }
    expect(problemsOfStatus(namespaces, { metadata, status: { phase } })).toEqual(problems)
  })
})

it('shows its phase', () => {
  expect(columnNames(namespaces)).toEqual({ shown: ['Name', 'Status', 'Age'], wide: [] })
  expect(row(namespaces, { status: { phase: 'Active' } }, 0)).toEqual({ Name: 'x', Status: 'Active', Age: '<unknown>' })
})

it('can be filtered by phase', () => {
  const namespace = created(namespaces, {})
  expect(namespaces.selectableFields['status.phase']?.(namespace)).toBe('Active')
})
