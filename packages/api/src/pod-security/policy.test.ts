import { describe, expect, it } from 'vitest'
import { describeFieldError } from '../field-error.ts'
import { levelText } from './level.ts'
import { enforcesMore, namespacePolicy } from './policy.ts'

/** The policy of a namespace with these labels, given without their prefix: what it enforces, audits and warns of. */
function policyOf(labels: Readonly<Record<string, string>>) {
  const prefixed = Object.entries(labels).map(([name, value]) => [`pod-security.kubernetes.io/${name}`, value])
  const { policy, errors } = namespacePolicy(Object.fromEntries(prefixed))
  const { enforce, audit, warn } = policy
  return { policy, levels: [enforce, audit, warn].map(levelText).join(' '), errors: errors.map(describeFieldError) }
}

describe('the policy of a namespace', () => {
  it('lets everything pass where no label says otherwise', () => {
    expect(namespacePolicy(undefined)).toEqual(namespacePolicy({ team: 'a' }))
    expect(policyOf({})).toMatchObject({ levels: 'privileged:latest privileged:latest privileged:latest', errors: [] })
  })

  it.each<[Readonly<Record<string, string>>, string]>([
    [{ enforce: 'baseline' }, 'baseline:latest privileged:latest baseline:latest'],
    [{ enforce: 'baseline', 'enforce-version': 'v1.30' }, 'baseline:v1.30 privileged:latest baseline:v1.30'],
    [{ enforce: 'restricted', 'warn-version': 'v1.0' }, 'restricted:latest privileged:latest restricted:v1.0'],
    [{ enforce: 'restricted', warn: 'privileged' }, 'restricted:latest privileged:latest privileged:latest'],
    [{ enforce: 'privileged', 'enforce-version': 'v1.30' }, 'privileged:v1.30 privileged:latest privileged:latest'],
    [
      { audit: 'baseline', warn: 'restricted', 'warn-version': 'latest' },
      'privileged:latest baseline:latest restricted:latest',
    ],
  ])('%j', (labels, levels) => {
    expect(policyOf(labels)).toMatchObject({ levels, errors: [] })
  })

  it('is strict where a label cannot be read that refuses, and tells nothing where one cannot that tells', () => {
    expect(
      policyOf({ enforce: 'Baseline', audit: 'a', warn: 'b', 'enforce-version': '1.30', 'warn-version': 'v1.08' }),
    ).toMatchObject({
      levels: 'restricted:latest privileged:latest privileged:latest',
      errors: [
        'metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: "Baseline": must be one of privileged, baseline, restricted',
        'metadata.labels[pod-security.kubernetes.io/enforce-version]: Invalid value: "1.30": must be "latest" or "v1.x"',
        'metadata.labels[pod-security.kubernetes.io/audit]: Invalid value: "a": must be one of privileged, baseline, restricted',
        'metadata.labels[pod-security.kubernetes.io/warn]: Invalid value: "b": must be one of privileged, baseline, restricted',
        'metadata.labels[pod-security.kubernetes.io/warn-version]: Invalid value: "v1.08": must be "latest" or "v1.x"',
      ],
    })
  })

  it.each(['', 'v1', 'v2.0', 'v1.-1', 'v1.1.1', 'v1.99999999999999999999'])('has no version %j', (version) => {
    expect(policyOf({ 'audit-version': version }).errors).toHaveLength(1)
  })
})

describe('a change of what is enforced', () => {
  it.each<[Readonly<Record<string, string>>, Readonly<Record<string, string>>, boolean]>([
    [{}, { enforce: 'baseline' }, true],
    [{ enforce: 'baseline' }, { enforce: 'restricted' }, true],
    [{ enforce: 'restricted' }, { enforce: 'baseline' }, false],
    [{ enforce: 'restricted' }, { enforce: 'baseline', 'enforce-version': 'v1.36' }, true],
    [{ enforce: 'baseline', 'enforce-version': 'v1.30' }, { enforce: 'baseline' }, true],
    [{ enforce: 'baseline' }, { enforce: 'baseline', warn: 'restricted' }, false],
    [{ enforce: 'baseline' }, {}, false],
  ])('from %j to %j may forbid pods that were allowed: %j', (old, next, more) => {
    expect(enforcesMore(policyOf(next).policy, policyOf(old).policy)).toBe(more)
  })
})
