import { beforeAll, describe, expect, it } from 'vitest'
import { problemsOfStatus } from '../../../test/requests.ts'
import { describeFieldError } from '../../field-error.ts'
import { compile } from '../../schema/compile.ts'
import type { StoredKind } from '../../stored-kind.ts'
import { validatingAdmissionPolicies } from './validating-admission-policy.ts'
import { validatingAdmissionPolicyBindings } from './validating-admission-policy-binding.ts'

beforeAll(() => validatingAdmissionPolicies.strategy.load?.())

const rule = { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }
const policySpec = {
  matchConstraints: { resourceRules: [rule] },
  validations: [{ expression: "object.metadata.name != 'x'" }],
}
const bindingSpec = { policyName: 'p', validationActions: ['Deny'] }

function complete(kind: StoredKind, spec: object) {
  const { decode, applyDefaults } = compile(kind.schema)
  const apiVersion = 'admissionregistration.k8s.io/v1'
  return applyDefaults(decode({ apiVersion, kind: kind.kind, metadata: { name: 'p' }, spec }).value)
}

function errorsOf(kind: StoredKind, spec: object): readonly string[] {
  const given = complete(kind, spec)
  const errors = [...compile(kind.schema).validate(given), ...(kind.strategy.validate?.(given, 'v1') ?? [])]
  return errors.map(describeFieldError)
}

/** The messages, up to where they tell the rules of a format or the place in an expression. */
const shortened = (errors: readonly string[]) =>
  errors.map((each) => each.replace(/(compilation failed|label|label key) .*$/s, '$1').replace(/: ERROR: .*$/s, ''))

describe('a policy', () => {
  const policies = validatingAdmissionPolicies as unknown as StoredKind

  it("has upstream's defaults", () => {
    expect(complete(policies, policySpec)).toMatchObject({
      spec: {
        failurePolicy: 'Fail',
        matchConstraints: {
          matchPolicy: 'Equivalent',
          namespaceSelector: {},
          objectSelector: {},
          resourceRules: [{ scope: '*' }],
        },
      },
    })
  })

  it('may use what was defined before', () => {
    const spec = {
      ...policySpec,
      paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
      matchConditions: [{ name: 'c', expression: "params.data.on == 'true'" }],
      variables: [
        { name: 'containers', expression: 'object.spec.containers' },
        { name: 'count', expression: 'variables.containers.size()' },
      ],
      validations: [
        {
          expression: 'variables.count < 3',
          messageExpression: "'too many: ' + string(variables.count)",
          reason: 'Forbidden',
        },
      ],
      auditAnnotations: [{ key: 'count', valueExpression: 'string(variables.count)' }],
    }
    expect(errorsOf(policies, spec)).toEqual([])
  })

  it('knows of no variables where it defines none', () => {
    expect(errorsOf(policies, { validations: [{ expression: 'variables.a == true' }] }).join()).toContain(
      "ERROR: <input>:1:1: undeclared reference to 'variables' (in container '')",
    )
  })

  it.each<[string, object, readonly string[]]>([
    ['no requests', { matchConstraints: undefined }, ['spec.matchConstraints: Required value']],
    ['no rule', { matchConstraints: {} }, ['spec.matchConstraints.resourceRules: Required value']],
    [
      'a name twice',
      { matchConstraints: { resourceRules: [{ ...rule, resourceNames: ['a', 'a'] }] } },
      ['spec.matchConstraints.resourceRules[0].resourceNames[1]: Duplicate value: "a"'],
    ],
    [
      'nothing to say',
      { validations: [] },
      [
        'spec.validations: Required value: validations or auditAnnotations must contain at least one item',
        'spec.auditAnnotations: Required value: validations or auditAnnotations must contain at least one item',
      ],
    ],
    [
      'an empty expression',
      { validations: [{ expression: ' ' }] },
      ['spec.validations[0].expression: Required value: expression is not specified'],
    ],
    [
      'an expression that is no truth',
      { validations: [{ expression: '1' }] },
      ['spec.validations[0].expression: Invalid value: "1": must evaluate to bool but got int'],
    ],
    [
      'a message of several lines',
      { validations: [{ expression: 'true', message: 'a\nb' }] },
      ['spec.validations[0].message: Invalid value: "a\\nb": must not contain line breaks'],
    ],
    [
      'a message of spaces',
      { validations: [{ expression: 'true', message: ' ' }] },
      ['spec.validations[0].message: Invalid value: " ": must be non-empty if specified'],
    ],
    [
      'a note that is no text, told as it is written',
      { auditAnnotations: [{ key: 'a', valueExpression: ' 1' }] },
      [
        'spec.auditAnnotations[0].valueExpression: Invalid value: " 1": must evaluate to one of [string null_type] but got int',
      ],
    ],
    [
      'a message expression that is no text',
      { validations: [{ expression: 'true', messageExpression: '1' }] },
      ['spec.validations[0].messageExpression: Invalid value: "1": must evaluate to string but got int'],
    ],
    [
      'a message expression about rights',
      { validations: [{ expression: 'true', messageExpression: "authorizer.path('/').check('get').reason()" }] },
      [
        `spec.validations[0].messageExpression: Invalid value: "authorizer.path('/').check('get').reason()": compilation failed`,
      ],
    ],
    [
      'another reason',
      { validations: [{ expression: 'true', reason: 'Whim' }] },
      [
        'spec.validations[0].reason: Unsupported value: "Whim": supported values: "Forbidden", "Invalid", "RequestEntityTooLarge"',
      ],
    ],
    [
      'a variable before it is defined',
      {
        variables: [
          { name: 'a', expression: 'variables.b' },
          { name: 'b', expression: '1' },
        ],
      },
      ['spec.variables[0].expression: Invalid value: "variables.b": compilation failed'],
    ],
    [
      'a variable whose name is a word of the language',
      { variables: [{ name: 'for', expression: '1' }] },
      ['spec.variables[0].name: Invalid value: "for": must be a valid CEL identifier'],
    ],
    [
      'a variable that is wrong, and nothing that uses it',
      {
        variables: [{ name: 'a', expression: 'b' }],
        validations: [{ expression: 'variables.a == true' }],
      },
      ['spec.variables[0].expression: Invalid value: "b": compilation failed'],
    ],
    [
      'a variable of nothing but spaces',
      { variables: [{ name: ' ', expression: '1' }] },
      ['spec.variables[0].name: Required value: name is not specified'],
    ],
    [
      'a kind of parameters without a version',
      { paramKind: { kind: 'ConfigMap' } },
      ['spec.paramKind.apiVersion: Required value'],
    ],
    [
      'a kind of parameters in too many parts',
      { paramKind: { apiVersion: 'a/b/c', kind: 'ConfigMap' } },
      ['spec.paramKind.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c'],
    ],
    [
      'parameters that it does not have',
      { validations: [{ expression: 'params == null' }] },
      ['spec.validations[0].expression: Invalid value: "params == null": compilation failed'],
    ],
    [
      'what constants cannot be',
      {
        variables: [{ name: 'x', expression: "int('x')" }],
        validations: [{ expression: "bool('x')" }],
      },
      [
        "spec.variables[0].expression: Internal error: program instantiation failed: type conversion error from 'string' to 'int'",
        "spec.validations[0].expression: Internal error: program instantiation failed: type conversion error from 'string' to 'bool'",
      ],
    ],
    [
      'a note without a value',
      { auditAnnotations: [{ key: 'k', valueExpression: '' }] },
      ['spec.auditAnnotations[0].valueExpression: Required value: valueExpression is not specified'],
    ],
    [
      'two notes under one key',
      {
        auditAnnotations: [
          { key: 'k', valueExpression: "'a'" },
          { key: 'k', valueExpression: "'b'" },
        ],
      },
      ['spec.auditAnnotations[1].key: Duplicate value: "k"'],
    ],
    [
      'a note that is no text',
      { auditAnnotations: [{ key: 'k', valueExpression: '1' }] },
      [
        'spec.auditAnnotations[0].valueExpression: Invalid value: "1": must evaluate to one of [string null_type] but got int',
      ],
    ],
    [
      'another failure policy',
      { failurePolicy: 'Maybe' },
      ['spec.failurePolicy: Unsupported value: "Maybe": supported values: "Fail", "Ignore"'],
    ],
  ])('is refused with %s', (_, more, messages) => {
    expect(shortened(errorsOf(policies, { ...policySpec, ...more }))).toEqual(messages)
  })
})

describe('a binding', () => {
  const bindings = validatingAdmissionPolicyBindings as unknown as StoredKind

  it.each<[string, object]>([
    ['of a policy alone', {}],
    ['with one object of parameters', { paramRef: { name: 'a', parameterNotFoundAction: 'Deny' } }],
    ['with any objects of parameters', { paramRef: { selector: {}, parameterNotFoundAction: 'Allow' } }],
    ['for some requests', { matchResources: { namespaceSelector: { matchLabels: { a: 'b' } } } }],
    ['that warns and notes', { validationActions: ['Warn', 'Audit'] }],
  ])('%s is accepted', (_, more) => {
    expect(errorsOf(bindings, { ...bindingSpec, ...more })).toEqual([])
  })

  it.each<[string, object, readonly string[]]>([
    ['no policy', { policyName: '' }, ['spec.policyName: Required value']],
    [
      'no action',
      { validationActions: [] },
      ['spec.validationActions: Required value: at least one validation action is required'],
    ],
    [
      'an unknown action',
      { validationActions: ['Shout'] },
      ['spec.validationActions[0]: Unsupported value: "Shout": supported values: "Audit", "Deny", "Warn"'],
    ],
    [
      'an action twice',
      { validationActions: ['Deny', 'Deny'] },
      ['spec.validationActions[1]: Duplicate value: "Deny"'],
    ],
    [
      'a refusal that is a warning',
      { validationActions: ['Deny', 'Warn'] },
      [
        'spec.validationActions: Invalid value: ["Deny","Warn"]: must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)',
      ],
    ],
    [
      'parameters by name and by labels',
      { paramRef: { name: 'a', selector: {}, parameterNotFoundAction: 'Deny' } },
      [
        'spec.paramRef.name: Forbidden: name and selector are mutually exclusive',
        'spec.paramRef.selector: Forbidden: name and selector are mutually exclusive',
      ],
    ],
    [
      'parameters by nothing',
      { paramRef: {} },
      [
        'spec.paramRef: Required value: one of name or selector must be specified',
        'spec.paramRef.parameterNotFoundAction: Required value',
      ],
    ],
    [
      'another thing to do without parameters',
      { paramRef: { name: 'a', parameterNotFoundAction: 'Wait' } },
      ['spec.paramRef.parameterNotFoundAction: Unsupported value: "Wait": supported values: "Deny", "Allow"'],
    ],
  ])('is refused with %s', (_, more, messages) => {
    expect(errorsOf(bindings, { ...bindingSpec, ...more })).toEqual(messages)
  })
})

describe('the status of a policy', () => {
  it.each<readonly [object, readonly string[]]>([
    [{ fieldRef: 'spec.validations[0].expression', warning: 'w' }, []],
    [{}, ['warning: Required value', 'fieldRef: Required value']],
    [
      { fieldRef: 'spec[foo]', warning: 'w' },
      ['fieldRef: Invalid value: "spec[foo]": invalid JSONPath: invalid array index foo'],
    ],
  ])('warns of %j', (warning, expected) => {
    const policy = problemsOfStatus(validatingAdmissionPolicies, {
      status: { typeChecking: { expressionWarnings: [warning] } },
    })
    expect(policy).toEqual(expected.map((each) => `status.typeChecking.expressionWarnings[0].${each}`))
  })
})
