import { describe, expect, it } from 'vitest'
import { decoded, problemsOfCreate } from '../../test/requests.ts'
import { describeFieldError } from '../field-error.ts'
import type { KubernetesObject } from '../meta.ts'
import { compile } from '../schema/compile.ts'
import type { StoredKind } from '../stored-kind.ts'
import { validatingAdmissionPolicies } from './admissionregistration/validating-admission-policy.ts'
import { customResourceDefinitions } from './apiextensions/custom-resource-definition.ts'
import { apiServices } from './apiregistration/api-service.ts'
import { endpointSlices } from './discovery/endpoint-slice/endpoint-slice.ts'
import { flowSchemas } from './flowcontrol/flow-schema.ts'

// Lists that OpenAPI calls sets or maps, and whose elements nobody compares upstream.
describe('the same may be there twice', () => {
  it('in the rules of a FlowSchema', () => {
    const rule = {
      subjects: [{ kind: 'User', user: { name: 'u' } }],
      resourceRules: [{ verbs: ['get', 'get'], apiGroups: ['', ''], resources: ['a', 'a'], namespaces: ['n', 'n'] }],
      nonResourceRules: [{ verbs: ['get', 'get'], nonResourceURLs: ['/x', '/x'] }],
    }
    const spec = { priorityLevelConfiguration: { name: 'low' }, matchingPrecedence: 1000, rules: [rule] }
    expect(problemsOfCreate(flowSchemas, { spec })).toEqual([])
  })

  it('among the addresses of an endpoint', () => {
    const endpoints = [{ addresses: ['10.1.2.3', '10.1.2.3'] }]
    expect(problemsOfCreate(endpointSlices, { addressType: 'IPv4', endpoints })).toEqual([])
  })

  it('among the variables of a ValidatingAdmissionPolicy', () => {
    const rule = { apiGroups: [''], apiVersions: ['v1'], resources: ['pods'], operations: ['CREATE'] }
    const variables = [
      { name: 'a', expression: '1' },
      { name: 'a', expression: '2' },
    ]
    const validations = [{ expression: 'variables.a == 2' }]
    const spec = { matchConstraints: { resourceRules: [rule] }, variables, validations }
    expect(problemsOfCreate(validatingAdmissionPolicies, { spec })).toEqual([])
  })

  it.each<StoredKind>([apiServices, customResourceDefinitions])('among the conditions of a $kind', (kind) => {
    const condition = { type: 'A', status: 'True' }
    const { status } = decoded<KubernetesObject & { readonly status?: unknown }>(kind, {
      status: { conditions: [condition, condition] },
    })
    const schema = kind.schema.fields.status?.schema
    expect(schema === undefined ? undefined : compile(schema).validate(status).map(describeFieldError)).toEqual([])
  })
})
