import { describe, expect, it } from 'vitest'
import { columnNames, decoded, problemsOfCreate } from '../../../../test/requests.ts'
import { limitRanges } from './limit-range.ts'

const withLimits = (...limits: readonly object[]) => ({ spec: { limits } })
const container = (amounts: object) => withLimits({ type: 'Container', ...amounts })

describe('the defaults of a limit range', () => {
  it.each<readonly [string, object, object]>([
    [
      'the most there may be',
      { max: { cpu: '2' } },
      { max: { cpu: '2' }, default: { cpu: '2' }, defaultRequest: { cpu: '2' } },
    ],
    ['the least there must be', { min: { cpu: '1' } }, { min: { cpu: '1' }, defaultRequest: { cpu: '1' } }],
    [
      'what is said',
      { max: { cpu: '2', memory: '1Gi' }, default: { cpu: '1' } },
      {
        max: { cpu: '2', memory: '1Gi' },
        default: { cpu: '1', memory: '1Gi' },
        defaultRequest: { cpu: '1', memory: '1Gi' },
      },
    ],
    [
      'requests before the least',
      { min: { cpu: '1' }, default: { cpu: '3' }, defaultRequest: { cpu: '2' } },
      { min: { cpu: '1' }, default: { cpu: '3' }, defaultRequest: { cpu: '2' } },
    ],
  ])('of containers are %s', (_, amounts, filled) => {
    expect(decoded(limitRanges, container(amounts)).spec?.limits).toEqual([{ type: 'Container', ...filled }])
  })

  it('are there for a resource whose name all objects of JavaScript know', () => {
    const amounts = { max: { constructor: '2' }, default: { cpu: '1' } }
    expect(decoded(limitRanges, container(amounts)).spec?.limits?.[0]?.default).toEqual({ cpu: '1', constructor: '2' })
  })

  it('are none for whole pods', () => {
    const limits = withLimits({ type: 'Pod', max: { cpu: '2' } })
    expect(decoded(limitRanges, limits).spec).toEqual(limits.spec)
  })
})

describe('validation of a limit range', () => {
  const at = (field: string) => `spec.limits[0].${field}`
  it.each<readonly [string, object, readonly string[]]>([
    ['a good one', container({ min: { cpu: '1' }, max: { cpu: '4' }, maxLimitRequestRatio: { cpu: '2' } }), []],
    [
      'a type nobody knows',
      withLimits({ type: 'Node' }),
      [`${at('type')}: Invalid value: "Node": must be a standard limit type or fully qualified`],
    ],
    ['a type twice', withLimits({ type: 'Pod' }, { type: 'Pod' }), ['spec.limits[1].type: Duplicate value: "Pod"']],
    [
      'defaults of pods',
      withLimits({ type: 'Pod', default: { cpu: '1' }, defaultRequest: { cpu: '1' } }),
      [
        `${at('default')}: Forbidden: may not be specified when \`type\` is 'Pod'`,
        `${at('defaultRequest')}: Forbidden: may not be specified when \`type\` is 'Pod'`,
      ],
    ],
    [
      'claims of any size',
      withLimits({ type: 'PersistentVolumeClaim', max: { memory: '1' } }),
      [
        `${at('limits')}: Required value: either minimum or maximum storage value is required, but neither was provided`,
      ],
    ],
    [
      'what containers do not have',
      container({ max: { pods: '1' } }),
      ['max', 'default', 'defaultRequest'].map(
        (list) => `${at(`${list}[pods]`)}: Invalid value: "pods": must be a standard resource for containers`,
      ),
    ],
    [
      'limits that cross',
      container({ min: { cpu: '4' }, max: { cpu: '1' }, default: { cpu: '2' }, defaultRequest: { cpu: '3' } }),
      [
        `${at('min[cpu]')}: Invalid value: "4": min value 4 is greater than max value 1`,
        `${at('defaultRequest[cpu]')}: Invalid value: "3": min value 4 is greater than default request value 3`,
        `${at('defaultRequest[cpu]')}: Invalid value: "3": default request value 3 is greater than max value 1`,
        `${at('defaultRequest[cpu]')}: Invalid value: "3": default request value 3 is greater than default limit value 2`,
        `${at('default[cpu]')}: Invalid value: "4": min value 4 is greater than default value 2`,
        `${at('default[cpu]')}: Invalid value: "1": default value 2 is greater than max value 1`,
      ],
    ],
    [
      'ratios that cannot be',
      withLimits({
        type: 'Pod',
        min: { cpu: '1', memory: '1' },
        max: { cpu: '2', memory: '2' },
        maxLimitRequestRatio: { cpu: '500m', memory: '3' },
      }),
      [
        `${at('maxLimitRequestRatio[cpu]')}: Invalid value: "500m": ratio 500m is less than 1`,
        `${at('maxLimitRequestRatio[memory]')}: Invalid value: "3": ratio 3 is greater than max/min = 2.000000`,
      ],
    ],
    [
      'more huge pages than there are',
      container({ default: { 'hugepages-2Mi': '4Mi' }, defaultRequest: { 'hugepages-2Mi': '2Mi' } }),
      [
        `${at('defaultRequest[hugepages-2Mi]')}: Invalid value: "2Mi": default value 4Mi must equal to defaultRequest value 2Mi in hugepages-2Mi`,
      ],
    ],
  ])('%s', (_, draft, problems) => {
    expect(problemsOfCreate(limitRanges, { ...draft })).toEqual(problems)
  })
})

it('is shown with the time of its creation', () => {
  expect(columnNames(limitRanges)).toEqual({ shown: ['Name', 'Created At'], wide: [] })
})
