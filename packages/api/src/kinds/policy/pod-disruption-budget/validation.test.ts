import { describe, expect, it } from 'vitest'
import { problemsOfCreate } from '../../../../test/requests.ts'
import { describeFieldError } from '../../../field-error.ts'
import { compile } from '../../../schema/compile.ts'
import { podDisruptionBudgets } from './pod-disruption-budget.ts'
import { type PodDisruptionBudget, podDisruptionBudgetSchema } from './schema.ts'

const { strategy } = podDisruptionBudgets

function budget(members: object): PodDisruptionBudget {
  const type = { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { name: 'web' } }
  const { decode, applyDefaults } = compile(podDisruptionBudgetSchema)
  return applyDefaults(decode({ ...type, ...members }).value)
}

function errorsOf(spec: object): readonly string[] {
  const given = budget({ spec })
  const schemaErrors = compile(podDisruptionBudgetSchema).validate(given)
  return [...schemaErrors, ...(strategy.validate?.(given, 'policy/v1') ?? [])].map(describeFieldError)
}

describe('the spec of a disruption budget', () => {
  it.each<[string, object]>([
    ['nothing, which guards nothing', {}],
    ['a number of pods that must stay', { minAvailable: 2, selector: { matchLabels: { app: 'web' } } }],
    ['none of them', { maxUnavailable: 0 }],
    ['a percentage', { maxUnavailable: '30%' }],
    ['all of them', { minAvailable: '100%' }],
    ['more pods than there are', { minAvailable: 1_000_000 }],
    ['which pods may go that are not ready', { unhealthyPodEvictionPolicy: 'AlwaysAllow' }],
  ])('may ask for %s', (_, spec) => {
    expect(errorsOf(spec)).toEqual([])
  })

  const percent =
    "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"

  it.each<[string, object, string]>([
    [
      'both limits',
      { minAvailable: 1, maxUnavailable: 1 },
      'spec: Invalid value: {"MinAvailable":1,"Selector":null,"MaxUnavailable":1,"UnhealthyPodEvictionPolicy":null}: minAvailable and maxUnavailable cannot be both set',
    ],
    [
      'fewer than none',
      { minAvailable: -1 },
      'spec.minAvailable: Invalid value: -1: must be greater than or equal to 0',
    ],
    [
      'less than nothing',
      { maxUnavailable: -1 },
      'spec.maxUnavailable: Invalid value: -1: must be greater than or equal to 0',
    ],
    ['a number as text', { minAvailable: '2' }, `spec.minAvailable: Invalid value: "2": ${percent}`],
    ['a part of a percent', { maxUnavailable: '1.5%' }, `spec.maxUnavailable: Invalid value: "1.5%": ${percent}`],
    ['a negative percentage', { maxUnavailable: '-5%' }, `spec.maxUnavailable: Invalid value: "-5%": ${percent}`],
    [
      'more than all',
      { minAvailable: '101%' },
      'spec.minAvailable: Invalid value: "101%": must not be greater than 100%',
    ],
    [
      'a selector that selects by nothing known',
      { selector: { matchExpressions: [{ key: 'app', operator: 'Like' }] } },
      'spec.selector.matchExpressions[0].operator: Invalid value: "Like": not a valid selector operator',
    ],
    [
      'another policy for pods that are not ready',
      { unhealthyPodEvictionPolicy: 'Never' },
      'spec.unhealthyPodEvictionPolicy: Unsupported value: "Never": supported values: "AlwaysAllow", "IfHealthyBudget"',
    ],
  ])('may not ask for %s', (_, spec, message) => {
    expect(errorsOf(spec)).toEqual([message])
  })
})

it('what is wrong with a disruption budget is told in the order of upstream', () => {
  const problems = problemsOfCreate(podDisruptionBudgets, {
    spec: { unhealthyPodEvictionPolicy: 'Never', selector: { matchLabels: { 'a b': '' } }, maxUnavailable: -1 },
  })
  expect(problems).toEqual([
    expect.stringContaining('spec.maxUnavailable: Invalid value: -1'),
    expect.stringContaining('spec.selector.matchLabels: Invalid value: "a b"'),
    expect.stringContaining('spec.unhealthyPodEvictionPolicy: Unsupported value: "Never"'),
  ])
})

describe('the status of a disruption budget', () => {
  const counts = { disruptionsAllowed: 1, currentHealthy: 3, desiredHealthy: 2, expectedPods: 3 }
  const condition = {
    type: 'DisruptionAllowed',
    status: 'True',
    reason: 'SufficientPods',
    message: '',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  }
  const errorsOfStatus = (status: object): readonly string[] => {
    const given = budget({ status: { ...counts, ...status } })
    return (strategy.validateStatusUpdate?.(given, budget({})) ?? []).map(describeFieldError)
  }

  it('counts pods', () => {
    expect(errorsOfStatus({ conditions: [condition] })).toEqual([])
  })

  it.each(Object.keys(counts))('has no negative %s', (field) => {
    const message = `status.${field}: Invalid value: -1: must be greater than or equal to 0`
    expect(errorsOfStatus({ [field]: -1 })).toEqual([message])
  })

  it('has conditions that say why', () => {
    expect(errorsOfStatus({ conditions: [{ ...condition, reason: '' }] })).toEqual([
      'status.conditions[0].reason: Required value',
    ])
    expect(errorsOfStatus({ conditions: [{ ...condition, message: 'é'.repeat(16_384) }] })).toEqual([])
    expect(errorsOfStatus({ conditions: [{ ...condition, message: 'é'.repeat(16_385) }] })).toEqual([
      'status.conditions[0].message: Too long: may not be more than 32768 bytes',
    ])
  })

  it('is not taken from whoever creates the budget', () => {
    const created = strategy.prepareForCreate?.(budget({ status: counts }), 0)
    expect(created?.status).toEqual({ disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 })
  })
})
