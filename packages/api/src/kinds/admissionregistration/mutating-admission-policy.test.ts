import { beforeAll, describe, expect, it } from 'vitest'
import { describeFieldError } from '../../field-error.ts'
import { compile } from '../../schema/compile.ts'
import type { StoredKind } from '../../stored-kind.ts'
import { mutatingAdmissionPolicies } from './mutating-admission-policy.ts'
import { mutatingAdmissionPolicyBindings } from './mutating-admission-policy-binding.ts'

beforeAll(() => mutatingAdmissionPolicies.strategy.load?.())

const rule = { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }
const mutation = { patchType: 'ApplyConfiguration', applyConfiguration: { expression: 'Object{}' } }
const policySpec = { matchConstraints: { resourceRules: [rule] }, mutations: [mutation], reinvocationPolicy: 'Never' }

function errorsOf(kind: unknown, spec: object): readonly string[] {
  const { schema, strategy, kind: name } = kind as StoredKind
  const { decode, applyDefaults, validate } = compile(schema)
  const apiVersion = 'admissionregistration.k8s.io/v1'
  const given = applyDefaults(decode({ apiVersion, kind: name, metadata: { name: 'p' }, spec }).value)
  const errors = [...validate(given), ...(strategy.validate?.(given, 'v1') ?? [])]
  return errors.map((error) => describeFieldError(error).split('\n')[0] ?? '')
}

const withMutation = (given: object) => ({ ...policySpec, mutations: [given] })
const applying = (expression: string) => withMutation({ ...mutation, applyConfiguration: { expression } })
const patching = (expression: string) => withMutation({ patchType: 'JSONPatch', jsonPatch: { expression } })
const at = 'spec.mutations[0]'

describe('a mutating policy', () => {
  it.each<[string, object, readonly string[]]>([
    ['may change what is written', policySpec, []],
    [
      'changes something of something',
      {},
      [
        'spec.matchConstraints: Required value',
        'spec.mutations: Required value: mutations must contain at least one item',
        'spec.reinvocationPolicy: Required value',
      ],
    ],
    [
      'changes nothing that is deleted',
      { ...policySpec, matchConstraints: { resourceRules: [{ ...rule, operations: ['UPDATE', 'DELETE'] }] } },
      [
        'spec.matchConstraints.resourceRules.operations: Unsupported value: "DELETE": supported values: "*", "CONNECT", "CREATE", "UPDATE"',
      ],
    ],
    [
      'is asked again or not',
      { ...policySpec, reinvocationPolicy: 'Maybe' },
      ['spec.reinvocationPolicy: Unsupported value: "Maybe": supported values: "IfNeeded", "Never"'],
    ],
    ['says how it changes', withMutation({}), [`${at}.patchType: Required value`]],
    [
      'changes in one of two ways',
      withMutation({ patchType: 'Merge' }),
      [`${at}.patchType: Unsupported value: "Merge": supported values: "ApplyConfiguration", "JSONPatch"`],
    ],
    [
      'says what to do in the way it changes',
      withMutation({ ...mutation, patchType: 'JSONPatch' }),
      [
        `${at}.jsonPatch: Required value: must be specified when patchType is JSONPatch`,
        `${at}.applyConfiguration: Invalid value: "{applyConfiguration}": must not be specified when patchType is JSONPatch`,
      ],
    ],
    ['says it in an expression', applying(' '), [`${at}.applyConfiguration.expression: Required value`]],
    [
      'makes an object',
      applying('{"a": 1}'),
      [
        `${at}.applyConfiguration.expression: Invalid value: "{\\"a\\": 1}": must evaluate to Object but got map(string, int)`,
      ],
    ],
    [
      'makes it of what there is',
      applying('Object{a: b}'),
      [
        `${at}.applyConfiguration.expression: Invalid value: "Object{a: b}": compilation failed: ERROR: <input>:1:11: undeclared reference to 'b' (in container '')`,
      ],
    ],
    [
      'makes it of known types',
      applying('Pod{}'),
      [
        `${at}.applyConfiguration.expression: Invalid value: "Pod{}": compilation failed: ERROR: <input>:1:4: undeclared reference to 'Pod' (in container '')`,
      ],
    ],
    ['may choose', applying('has(object.spec) ? Object{spec: Object.spec{a: 1}} : Object{}'), []],
    ['makes a list of patches', patching('[JSONPatch{op: "add", path: "/a", value: 1}]'), []],
    [
      'and no single one',
      patching('JSONPatch{op: "add"}'),
      [
        `${at}.jsonPatch.expression: Invalid value: "JSONPatch{op: \\"add\\"}": must evaluate to list(JSONPatch) but got JSONPatch`,
      ],
    ],
    [
      'with the fields of patches',
      patching('[JSONPatch{what: 1}]'),
      [
        `${at}.jsonPatch.expression: Invalid value: "[JSONPatch{what: 1}]": compilation failed: ERROR: <input>:1:16: undefined field 'what'`,
      ],
    ],
    [
      'of what constants can be',
      patching("[JSONPatch{op: 'add', path: '/a', value: int('x')}]"),
      [
        `${at}.jsonPatch.expression: Internal error: program instantiation failed: type conversion error from 'string' to 'int'`,
      ],
    ],
    [
      'of their types',
      patching('[JSONPatch{op: 1}]'),
      [
        `${at}.jsonPatch.expression: Invalid value: "[JSONPatch{op: 1}]": compilation failed: ERROR: <input>:1:14: expected type of field 'op' is 'string' but provided type is 'int'`,
      ],
    ],
  ])('%s', (_, spec, errors) => {
    expect(errorsOf(mutatingAdmissionPolicies, spec)).toEqual(errors)
  })
})

describe('a binding', () => {
  it('names a policy', () => {
    expect(errorsOf(mutatingAdmissionPolicyBindings, {})).toEqual(['spec.policyName: Required value'])
    expect(errorsOf(mutatingAdmissionPolicyBindings, { policyName: 'p' })).toEqual([])
  })

  it('is for nothing that is deleted', () => {
    const resourceRules = [{ operations: ['DELETE'], apiGroups: ['a'], apiVersions: ['v1'], resources: ['b'] }]
    expect(errorsOf(mutatingAdmissionPolicyBindings, { policyName: 'p', matchResources: { resourceRules } })).toEqual([
      'spec.matchResources.resourceRules.operations: Unsupported value: "DELETE": supported values: "*", "CONNECT", "CREATE", "UPDATE"',
    ])
  })
})
