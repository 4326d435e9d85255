import { describe, expect, it } from 'vitest'
import { builtinKinds, customResourceDefinitions, deployments } from '../index.ts'
import { checkedKindsMax, policyTypeWarnings } from './type-checking.ts'

type Spec = Parameters<typeof policyTypeWarnings>[0]

const rule = (group: string, version: string, ...resources: readonly string[]) => ({
  apiGroups: [group],
  apiVersions: [version],
  resources,
  operations: ['*'],
})
const deploymentRule = rule('apps', 'v1', 'deployments')

const warningsOf = (spec: object, rules: readonly object[] = [deploymentRule]) =>
  policyTypeWarnings({ matchConstraints: { resourceRules: rules }, ...spec } as Spec, builtinKinds)
const warningOf = (expression: string, rules?: readonly object[], spec: object = {}) =>
  warningsOf({ validations: [{ expression }], ...spec }, rules)[0]?.warning

describe('types in a policy', () => {
  it('are told where they do not fit, in upstream’s words', () => {
    const validations = [{ expression: 'true' }, { expression: 'object.replicas > 1', messageExpression: 'object.x' }]
    const at = (line: string, mark: string) =>
      `apps/v1, Kind=Deployment: ERROR: <input>:1:7: ${line}\n | ${mark}\n | ......^\n`
    expect(warningsOf({ validations })).toEqual([
      { fieldRef: 'spec.validations[1].expression', warning: at("undefined field 'replicas'", 'object.replicas > 1') },
      { fieldRef: 'spec.validations[1].messageExpression', warning: at("undefined field 'x'", 'object.x') },
    ])
  })

  it.each([
    ['what the schema has', 'object.spec.replicas > 1 && oldObject.spec.paused'],
    [
      'metadata, of templates too',
      'object.metadata.labels["a"] == "b" && has(object.spec.template.metadata.annotations)',
    ],
    ['times', 'object.metadata.creationTimestamp < timestamp("2026-01-01T00:00:00Z")'],
    ['counts that may be text', 'object.spec.strategy.rollingUpdate.maxSurge == 1'],
    ['names that are reserved words', 'object.metadata.__namespace__ == "a"'],
    [
      'the request, its namespace and who may do what',
      'request.userInfo.username == namespaceObject.metadata.name && authorizer.group("").resource("pods").check("get").allowed()',
    ],
  ])('fit %s', (_what, expression) => {
    expect(warningOf(expression)).toBeUndefined()
  })

  it.each([
    [
      'a text that is none',
      'object.spec.replicas > "1"',
      "found no matching overload for '_>_' applied to '(int, string)'",
    ],
    ['a field of elements', 'object.spec.template.spec.containers.all(c, c.nam == "")', "undefined field 'nam'"],
    ['parameters where there are none', 'params.x', "undeclared reference to 'params'"],
    [
      'quantities, of which upstream knows no type',
      'object.spec.template.spec.containers.all(c, c.resources.limits["cpu"] == "1")',
      "undefined field 'limits'",
    ],
    [
      'rights to what is asked for, which upstream does not know here',
      'authorizer.requestResource.check("get").allowed()',
      "type 'kubernetes.authorization.Authorizer' does not support field selection",
    ],
    ['text that is no expression', 'object.spec.(', 'Syntax error'],
  ])('do not fit %s', (_what, expression, problem) => {
    expect(warningOf(expression)).toContain(problem)
  })

  it('are those of each kind that the rules name, in order', () => {
    const warning = warningOf('object.spec.minReadySeconds > 1', [
      rule('', 'v1', 'pods'),
      rule('apps', 'v1', 'statefulsets', 'replicasets'),
    ])
    expect(warning?.split('\n')[0]).toBe("/v1, Kind=Pod: ERROR: <input>:1:12: undefined field 'minReadySeconds'")
    expect(warning?.match(/Kind=/g)).toHaveLength(1)
    const both = warningOf('object.x', [rule('', 'v1', 'pods'), deploymentRule])
    expect(both?.match(/\S+, Kind=\w+/g)).toEqual(['/v1, Kind=Pod', 'apps/v1, Kind=Deployment'])
  })

  it.each([
    ['any group', { ...deploymentRule, apiGroups: ['*'] }],
    ['any version', { ...deploymentRule, apiVersions: ['*'] }],
    ['any resource', rule('apps', 'v1', '*')],
    ['a subresource', rule('apps', 'v1', 'deployments/scale')],
    ['a kind that is not served', rule('example.com', 'v1', 'things')],
  ])('are not checked for %s', (_what, unchecked) => {
    expect(warningOf('object.x', [unchecked])).toBeUndefined()
  })

  it('have no fields where a kind holds itself', () => {
    const { group, version, plural } = customResourceDefinitions
    const schema = 'object.spec.versions[0].schema.openAPIV3Schema'
    const rules = [rule(group, version, plural)]
    expect(warningOf(`${schema}.type == "object"`, rules)).toBeUndefined()
    expect(warningOf(`${schema}.properties["a"].type == "object"`, rules)).toContain("undefined field 'type'")
  })

  it('are those of any group where a rule names the one without a name', () => {
    const warning = warningOf('object.x', [rule('', 'v1', 'deployments')])
    expect(warning?.split('\n')[0]).toBe("apps/v1, Kind=Deployment: ERROR: <input>:1:7: undefined field 'x'")
  })

  it('are checked for so many kinds and no more', () => {
    const kinds = Array.from({ length: checkedKindsMax + 1 }, (_, index) => ({
      ...deployments,
      kind: `Kind${String.fromCharCode(97 + index)}`,
    }))
    const spec = { matchConstraints: { resourceRules: [deploymentRule] }, validations: [{ expression: 'object.x' }] }
    const [found] = policyTypeWarnings(spec as unknown as Spec, kinds)
    expect(found?.warning.match(/Kind=/g)).toHaveLength(checkedKindsMax)
  })

  it('are those of variables, each after those it uses', () => {
    const variables = [
      { name: 'count', expression: 'object.spec.replicas' },
      { name: 'more', expression: 'variables.count + 1' },
      { name: 'wrong', expression: 'object.x' },
    ]
    expect(warningOf('variables.more > 1 && variables.wrong == 1', undefined, { variables })).toBeUndefined()
    expect(warningOf('variables.more > "1"', undefined, { variables })).toContain("applied to '(int, string)'")
    expect(warningOf('variables.most', undefined, { variables })).toContain("undefined field 'most'")
  })

  it('are those of parameters, where their kind is known', () => {
    const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' }
    expect(warningOf('params.data["a"] == "b"', undefined, { paramKind })).toBeUndefined()
    expect(warningOf('params.datum', undefined, { paramKind })).toContain("undefined field 'datum'")
    const unknown = { apiVersion: 'example.com/v1', kind: 'Limit' }
    expect(warningOf('params.datum > 1', undefined, { paramKind: unknown })).toBeUndefined()
  })
})
