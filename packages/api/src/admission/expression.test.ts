import { describe, expect, it } from 'vitest'
import type { KubernetesObject } from '../meta.ts'
import { compileAdmissionExpression } from './expression.ts'
import { type AdmissionFacts, admissionVariables } from './variables.ts'

const kind = { group: '', version: 'v1', kind: 'Pod' }
const resource = { group: '', version: 'v1', resource: 'pods' }
const facts: AdmissionFacts = {
  request: {
    kind,
    resource,
    requestKind: kind,
    requestResource: resource,
    name: 'web',
    namespace: 'shop',
    operation: 'UPDATE',
    userInfo: { username: 'ann', groups: ['devs'], extra: { scopes: ['a', 'b'] } },
    dryRun: false,
    options: { kind: 'UpdateOptions', fieldManager: 'kubectl' },
  },
  object: {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', labels: { a: 'b' } },
    spec: { count: 3, part: 0.5 },
  } as KubernetesObject,
  oldObject: undefined,
  namespaceObject: {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'shop', uid: 'u1', creationTimestamp: '2026-01-02T03:04:05Z', labels: { tier: 'front' } },
    status: { phase: 'Active' },
  } as KubernetesObject,
  params: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'limits' }, data: { max: '5' } } as KubernetesObject,
  authorizer: {
    decide: (question) => ({ allowed: question.verb === 'get', reason: JSON.stringify(question) }),
    serviceAccount: (namespace, name) => ({
      decide: () => ({ allowed: false, reason: `${namespace}/${name}` }),
      serviceAccount: () => {
        throw new Error('not asked')
      },
    }),
  },
}

const costMax = 10_000_000

function evaluate(source: string): unknown {
  const compiled = compileAdmissionExpression(source, [], { hasParams: true, hasAuthorizer: true })
  if ('problem' in compiled) return compiled.problem
  const outcome = compiled.program.run(admissionVariables(facts), costMax)
  return 'error' in outcome ? outcome.error : outcome.value
}

describe('an expression about a request', () => {
  it.each<[string, unknown]>([
    ["object.metadata.labels['a'] == 'b'", true],
    ['object.spec.count + 1', 4n],
    ['object.spec.part', 0.5],
    ['oldObject == null', true],
    ['has(object.spec.missing)', false],
    ['object.spec.missing', 'no such key: missing'],
    ["request.userInfo.groups.exists(g, g == 'devs')", true],
    ["request.userInfo.extra['scopes'].size()", 2n],
    ['request.options.fieldManager', 'kubectl'],
    ['has(request.subResource)', false],
    ["namespaceObject.metadata.labels['tier']", 'front'],
    // Upstream declares it, and has it under another name; times of namespaces are declared as such, and are texts.
    ['namespaceObject.metadata.UID', 'no such key: UID'],
    ['timestamp(string(dyn(namespaceObject.metadata.creationTimestamp))).getFullYear()', 2026n],
    ['namespaceObject.metadata.creationTimestamp.getFullYear()', 'no such overload: getFullYear(string)'],
    ['namespaceObject.status.phase', 'Active'],
    ['int(params.data.max) > object.spec.count', true],
    ["authorizer.group('').resource('pods').namespace('shop').check('get').allowed()", true],
    ["authorizer.path('/healthz').check('post').allowed()", false],
    ["authorizer.serviceAccount('shop', 'bot').path('/').check('get').reason()", 'shop/bot'],
    [
      "authorizer.group('').resource('pods').fieldSelector('spec.nodeName=a').labelSelector('app=b').check('list').reason()",
      '{"kind":"resource","verb":"list","group":"","resource":"pods","subresource":"","namespace":"","name":"","fieldSelector":"spec.nodeName=a"}',
    ],
    ["type(authorizer.group('').resource('pods').fieldSelector('')) == string", false],
    ["authorizer.path(' ').check('get').allowed()", 'path must not be empty'],
    ["authorizer.group('apps').resource('').check('get').allowed()", 'resource must not be empty'],
    ["authorizer.serviceAccount('a.b', 'bot').path('/').check('get').allowed()", 'Invalid service account namespace'],
    ["authorizer.serviceAccount('a', 'b@').path('/').check('get').allowed()", 'Invalid service account name'],
    [
      "authorizer.requestResource.subresource('status').check('update').reason()",
      '{"kind":"resource","verb":"update","group":"","resource":"pods","subresource":"status","namespace":"shop","name":"web"}',
    ],
  ])('%s is %s', (source, value) => {
    expect(evaluate(source)).toEqual(value)
  })

  it('is refused where it cannot be read, or asks about what is not there', () => {
    expect(evaluate('request.nope')).toMatch(/^compilation failed: ERROR: <input>:1:8: undefined field 'nope'/)
    expect(evaluate('object.')).toMatch(/^compilation failed: ERROR: <input>:1:8: Syntax error/)
    const compiled = compileAdmissionExpression('params.data', [], { hasParams: false, hasAuthorizer: false })
    expect(compiled).toMatchObject({ problem: expect.stringMatching("undeclared reference to 'params'") })
  })

  it('must come to what is wanted of it', () => {
    const problemOf = (source: string, ...wanted: ('bool' | 'string' | 'null')[]) => {
      const compiled = compileAdmissionExpression(source, wanted, { hasParams: false, hasAuthorizer: true })
      return 'problem' in compiled ? compiled.problem : undefined
    }
    expect(problemOf('object.spec.on == true', 'bool')).toBe(undefined)
    expect(problemOf('object.spec.on', 'bool')).toBe('must evaluate to bool but got dyn')
    expect(problemOf('1', 'bool')).toBe('must evaluate to bool but got int')
    expect(problemOf('true', 'string', 'null')).toBe('must evaluate to one of [string null_type] but got bool')
  })
})
