import { expect, it } from 'vitest'
import { columnNames, problemsOfCreate, problemsOfUpdate, row } from '../../../test/requests.ts'
import { controllerRevisions } from './controller-revision.ts'

const data = { spec: { template: { $patch: 'replace' } } }

it('holds data that never change', () => {
  expect(problemsOfCreate(controllerRevisions, { data, revision: 1 })).toEqual([])
  expect(problemsOfCreate(controllerRevisions, { revision: -1 })).toEqual([
    'data: Required value: data is mandatory',
    'revision: Invalid value: -1: must be greater than or equal to 0',
  ])
  for (const other of ['x', 5, []]) {
    expect(problemsOfCreate(controllerRevisions, { data: other, revision: 1 })).toEqual([
      'data: Required value: data must be a valid JSON object',
    ])
  }
  expect(problemsOfUpdate(controllerRevisions, { data, revision: 1 }, { data, revision: 2 })).toEqual([])
  expect(problemsOfUpdate(controllerRevisions, { data, revision: 1 }, { data: {}, revision: 1 })).toEqual([
    'data: Invalid value: {}: field is immutable',
  ])
})

it('shows whose they are in a table', () => {
  expect(columnNames(controllerRevisions).shown).toEqual(['Name', 'Controller', 'Revision', 'Age'])
  const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', uid: '1', controller: true }
  const owned = { metadata: { name: 'db-1', ownerReferences: [owner] }, data, revision: 4 }
  expect(row(controllerRevisions, owned, 0)).toMatchObject({ Controller: 'statefulset.apps/db', Revision: 4 })
  expect(row(controllerRevisions, { data, revision: 1 }, 0)).toMatchObject({ Controller: '<none>' })
})
