import { expect, it } from 'vitest'
import { mapList, object, optional, setList, string } from '../schema/builders.ts'
import { processorMs } from '../testing/processor-time.ts'
import { recordUpdate } from './field-manager.ts'
import { managedFieldsOf } from './managed-fields.ts'
import { mergeApplied } from './merge.ts'
import type { FieldOwners, Manager, Versions } from './ownership.ts'

const item = object('', '', { name: optional(string(), '') })
const schema = object('', '', { addresses: optional(mapList(item, ['name']), '') })
const versions: Versions = { schemaOf: () => schema, convert: (value) => value }
const manager = (name: string): Manager => ({ name, operation: 'Update', apiVersion: 'v1', subresource: '' })
const [controller, node] = [manager('controller'), manager('node')]

const itIsSoon = (name: string, run: () => void) => it(name, () => expect(processorMs(run)).toBeLessThan(20_000))

itIsSoon('updates take time in proportion to the elements, of which there may be very many', () => {
  const count = 50_000
  const addresses = Array.from({ length: count }, (_, index) => ({ name: `many-${index}` }))
  let before = {}
  let owners: FieldOwners = []
  const become = (after: object, by: Manager, time: string) => {
    owners = recordUpdate({ before, after, owners, manager: by, versions }, time)
    before = after
  }
  become({ addresses }, node, 't1')
  become({ addresses: addresses.slice(0, -1).reverse() }, controller, 't2')
  become({ addresses: addresses.slice(1) }, node, 't3')
  const [owner] = managedFieldsOf(owners)
  const owned = Object.keys(owner?.fieldsV1?.['f:addresses'] ?? {})
  expect(owned.filter((element) => element.startsWith('k:'))).toHaveLength(count - 1)
})

itIsSoon('merging takes time in proportion to the elements that are there already', () => {
  const tags = Array.from({ length: 200_000 }, (_, index) => `many-${index}`)
  const ofTags = object('', '', { tags: optional(setList(string()), '') })
  expect(mergeApplied(ofTags, { tags }, { tags: [...tags] })).toEqual({ tags })
})
