import { expect, it } from 'vitest'
import { problemsOfCreate, problemsOfUpdate, row } from '../../../test/requests.ts'
import { runtimeClasses } from './runtime-class.ts'

const toleration = { key: 'vm', operator: 'Exists' }

it.each<readonly [string, object, readonly string[]]>([
  ['a good one', { handler: 'vm', overhead: { podFixed: { cpu: '100m' } } }, []],
  ['no handler', {}, ['handler: Required value']],
  [
    'overhead of what is no resource',
    { handler: 'vm', overhead: { podFixed: { cpus: '1' } } },
    [
      'overhead.limits[cpus]: Invalid value: "cpus": must be a standard resource type or fully qualified',
      'overhead.limits[cpus]: Invalid value: "cpus": must be a standard resource for containers',
    ],
  ],
  [
    'the same taint twice',
    { handler: 'vm', scheduling: { tolerations: [toleration, { ...toleration, tolerationSeconds: 5 }] } },
    [
      'scheduling.tolerations[1].effect: Invalid value: "": effect must be \'NoExecute\' when `tolerationSeconds` is set',
      'scheduling.tolerations[1]: Duplicate value: {"Key":"vm","Operator":"Exists","Value":"","Effect":"","TolerationSeconds":5}',
    ],
  ],
])('judges %s', (_, draft, problems) => {
  expect(problemsOfCreate(runtimeClasses, { ...draft })).toEqual(problems)
})

it('keeps its handler', () => {
  const problems = problemsOfUpdate(runtimeClasses, { handler: 'vm' }, { handler: 'container' })
  expect(problems).toEqual(['handler: Invalid value: "container": field is immutable'])
  expect(problemsOfUpdate(runtimeClasses, { handler: 'vm' }, {})).toContain(
    'handler: Invalid value: "": field is immutable',
  )
})

it('is shown with its handler', () => {
  expect(row(runtimeClasses, { handler: 'vm' }, 0)).toEqual({ Name: 'x', Handler: 'vm', Age: '<unknown>' })
})
