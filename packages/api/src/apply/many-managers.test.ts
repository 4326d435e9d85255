import { describe, expect, it } from 'vitest'
import { object, optional, stringMap } from '../schema/builders.ts'
import { processorMs } from '../testing/processor-time.ts'
import { ancientChangesManager, recordUpdateAnew, sameOwners, updateManagersMax } from './field-manager.ts'
import { managedFieldsOf, ownersOf } from './managed-fields.ts'
import type { Versions } from './ownership.ts'

const schema = object('', '', { data: optional(stringMap, '') })
const versions: Versions = { schemaOf: () => schema, convert: (value) => value }
const count = 20_000

/** As many entries of managedFields as somebody may write into an object, each of a field of its own. */
const entries = (operation: 'Apply' | 'Update') =>
  Array.from({ length: count }, (_, index) => ({
    manager: `manager-${index}`,
    operation,
    apiVersion: 'v1',
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:data': { [`f:${index}`]: {} } },
  }))

const ownersWith = (operation: 'Apply' | 'Update') => ownersOf(entries(operation)) ?? []

describe('very many managers take time in proportion to their number', () => {
  const itIsSoon = (name: string, run: () => void) => it(name, () => expect(processorMs(run)).toBeLessThan(12_000))

  itIsSoon('where a client writes them', () => {
    expect(ownersWith('Apply')).toHaveLength(count)
  })

  itIsSoon('where those that update are merged into one', () => {
    const manager = { name: 'latest', operation: 'Update', apiVersion: 'v1', subresource: '' } as const
    const data = Object.fromEntries(Array.from({ length: count }, (_, index) => [index, 'old']))
    const change = { before: { data }, after: { data: { ...data, more: 'new' } }, manager, versions }
    const recorded = recordUpdateAnew({ ...change, owners: ownersWith('Update') }, '2030-01-01T00:00:00Z')
    expect(recorded).toHaveLength(updateManagersMax)
    const ancient = managedFieldsOf(recorded).find(({ manager }) => manager === ancientChangesManager)
    expect(Object.keys(ancient?.fieldsV1?.['f:data'] ?? {})).toHaveLength(count - updateManagersMax + 2)
  })

  itIsSoon('where it is asked whether they are the same in another order', () => {
    const owners = ownersWith('Apply')
    expect(sameOwners(owners, owners.toReversed())).toBe(true)
    expect(sameOwners(owners, owners.toReversed().with(0, { ...owners[1], name: 'another' } as never))).toBe(false)
  })
})
