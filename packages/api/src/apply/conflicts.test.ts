import { describe, expect, it } from 'vitest'
import { applyConflict, pathText } from './conflicts.ts'
import { noFields } from './field-set.ts'
import type { OwnershipConflict } from './ownership.ts'

const conflict = (name: string, fields: readonly string[], more: object = {}): OwnershipConflict => ({
  manager: { name, operation: 'Apply', apiVersion: 'v1', subresource: '', fields: noFields, ...more },
  fields: Object.fromEntries(fields.map((field) => [field, noFields])),
})

describe('a conflict', () => {
  it('that is the only one is told in one line', () => {
    const { status } = applyConflict([conflict('a', ['f:x'])])
    expect(status).toMatchObject({
      code: 409,
      reason: 'Conflict',
      message: 'Apply failed with 1 conflict: conflict with "a": .x',
      details: { causes: [{ reason: 'FieldManagerConflict', message: 'conflict with "a"', field: '.x' }] },
    })
  })

  it('of many is told manager by manager, in the order of their names', () => {
    const conflicts = [
      conflict('b', ['f:x'], { operation: 'Update' }),
      conflict('a', ['f:x', 'f:y']),
      conflict('c', ['f:x'], { operation: 'Update', subresource: 'status' }),
      conflict('d', ['f:x'], { subresource: 'scale' }),
    ]
    const { status } = applyConflict(conflicts)
    expect(status.message?.split('\n')).toEqual([
      'Apply failed with 5 conflicts: conflicts with "a":',
      '- .x',
      '- .y',
      'conflicts with "b" using v1:',
      '- .x',
      'conflicts with "c" with subresource "status" using v1:',
      '- .x',
      'conflicts with "d" with subresource "scale":',
      '- .x',
    ])
    expect(status.details?.causes?.map(({ field }) => field)).toEqual(['.x', '.y', '.x', '.x', '.x'])
  })

  it.each<[readonly string[], string]>([
    [['f:spec', 'f:replicas'], '.spec.replicas'],
    [['f:ports', 'k:{"port":80,"protocol":"TCP"}', 'f:name'], '.ports[port=80,protocol="TCP"].name'],
    [['f:finalizers', 'v:"x"'], '.finalizers[="x"]'],
    [['f:args', 'i:3'], '.args[3]'],
    [[], ''],
  ])('names %j as %s', (path, text) => {
    expect(pathText(path)).toBe(text)
  })
})
