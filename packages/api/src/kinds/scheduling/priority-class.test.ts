import { describe, expect, it } from 'vitest'
import { columnNames, decoded, problemsOfCreate, problemsOfUpdate, row } from '../../../test/requests.ts'
import { priorityClasses } from './priority-class.ts'

describe('a priority class', () => {
  it('lets its pods preempt others unless it says otherwise', () => {
    expect(decoded(priorityClasses, { value: 5 })).toMatchObject({ value: 5, preemptionPolicy: 'PreemptLowerPriority' })
  })

  it.each<readonly [string, object, readonly string[]]>([
    ['a good one', { value: 1_000_000_000, preemptionPolicy: 'Never' }, []],
    [
      'too high',
      { value: 1_000_000_001 },
      ['value: Forbidden: maximum allowed value of a user defined priority is 1000000000'],
    ],
    [
      'an unknown policy',
      { preemptionPolicy: 'Always' },
      ['preemptionPolicy: Unsupported value: "Always": supported values: "PreemptLowerPriority", "Never"'],
    ],
    ['no policy', { preemptionPolicy: '' }, ['preemptionPolicy: Required value']],
    ['one of the system', { metadata: { name: 'system-node-critical' }, value: 2_000_001_000 }, []],
    [
      'a new one of the system',
      { metadata: { name: 'system-mine' } },
      [
        "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: system-mine is not a known system priority class",
      ],
    ],
    [
      'one of the system with another value',
      { metadata: { name: 'system-node-critical' }, value: 1 },
      [
        "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: value of system-node-critical PriorityClass must be 2000001000",
      ],
    ],
    [
      'one of the system that applies to all',
      { metadata: { name: 'system-node-critical' }, value: 2_000_001_000, globalDefault: true },
      [
        "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: globalDefault of system-node-critical PriorityClass must be false",
      ],
    ],
  ])('%s', (_, draft, problems) => {
    expect(problemsOfCreate(priorityClasses, { ...draft })).toEqual(problems)
  })

  it('means the same for good', () => {
    expect(problemsOfUpdate(priorityClasses, { value: 1 }, { value: 2, preemptionPolicy: 'Never' })).toEqual([
      'value: Forbidden: may not be changed in an update.',
      'preemptionPolicy: Invalid value: "Never": field is immutable',
    ])
    expect(problemsOfUpdate(priorityClasses, { value: 1 }, { value: 1, preemptionPolicy: 'Always' })).toEqual([
      'preemptionPolicy: Invalid value: "Always": field is immutable',
    ])
    expect(problemsOfUpdate(priorityClasses, { value: 1 }, { value: 1, description: 'for me' })).toEqual([])
  })

  it('is shown with its value', () => {
    expect(columnNames(priorityClasses).shown).toEqual(['Name', 'Value', 'Global-Default', 'Age', 'PreemptionPolicy'])
    expect(row(priorityClasses, { value: 7 }, 0)).toMatchObject({
      Value: 7,
      'Global-Default': false,
      PreemptionPolicy: 'PreemptLowerPriority',
    })
  })
})
