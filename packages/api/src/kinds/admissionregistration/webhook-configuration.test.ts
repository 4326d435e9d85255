import { beforeAll, describe, expect, it } from 'vitest'
import { describeFieldError } from '../../field-error.ts'
import { compile } from '../../schema/compile.ts'
import { type MutatingWebhookConfiguration, mutatingWebhookConfigurations } from './mutating-webhook-configuration.ts'
import { validatingWebhookConfigurations } from './validating-webhook-configuration.ts'

const { strategy, schema } = mutatingWebhookConfigurations

beforeAll(() => strategy.load?.())

const rule = { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }

const webhook = (more: object = {}) => ({
  name: 'sidecars.example.com',
  clientConfig: { url: 'https://127.0.0.1:8443/mutate' },
  rules: [rule],
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
  ...more,
})

function configuration(...webhooks: readonly object[]): MutatingWebhookConfiguration {
  const { decode, applyDefaults } = compile(schema)
  const given = { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'MutatingWebhookConfiguration' }
  return applyDefaults(decode({ ...given, metadata: { name: 'sidecars' }, webhooks }).value)
}

function errorsOf(...webhooks: readonly object[]): readonly string[] {
  const given = configuration(...webhooks)
  return [...compile(schema).validate(given), ...(strategy.validate?.(given, 'v1') ?? [])].map(describeFieldError)
}

describe('a webhook', () => {
  it("has upstream's defaults", () => {
    expect(
      configuration(webhook({ clientConfig: { service: { name: 'a', namespace: 'b' } } })).webhooks?.[0],
    ).toMatchObject({
      failurePolicy: 'Fail',
      matchPolicy: 'Equivalent',
      namespaceSelector: {},
      objectSelector: {},
      timeoutSeconds: 10,
      reinvocationPolicy: 'Never',
      rules: [{ scope: '*' }],
      clientConfig: { service: { port: 443 } },
    })
  })

  it('is accepted where nothing is wrong with it', () => {
    const matchConditions = [{ name: 'no-leases', expression: "request.resource.resource != 'leases'" }]
    expect(errorsOf(webhook({ matchConditions }), webhook({ name: 'more.example.com' }))).toEqual([])
  })

  it.each<[string, object, string]>([
    ['no name', { name: '' }, 'webhooks[0].name: Required value'],
    ['nothing of a name', { name: undefined }, 'webhooks[0].name: Required value'],
    [
      'no policy',
      { failurePolicy: '' },
      'webhooks[0].failurePolicy: Unsupported value: "": supported values: "Fail", "Ignore"',
    ],
    [
      'a short name',
      { name: 'a.b' },
      'webhooks[0].name: Invalid value: "a.b": should be a domain with at least three segments separated by dots',
    ],
    [
      'a name that is none',
      { name: 'A.b.c' },
      'webhooks[0].name: Invalid value: "A.b.c": a lowercase RFC 1123 subdomain…',
    ],
    [
      'another failure policy',
      { failurePolicy: 'Maybe' },
      'webhooks[0].failurePolicy: Unsupported value: "Maybe": supported values: "Fail", "Ignore"',
    ],
    [
      'another match policy',
      { matchPolicy: 'Near' },
      'webhooks[0].matchPolicy: Unsupported value: "Near": supported values: "Equivalent", "Exact"',
    ],
    [
      'no word on side effects',
      { sideEffects: undefined },
      'webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun',
    ],
    [
      'empty side effects',
      { sideEffects: '' },
      'webhooks[0].sideEffects: Unsupported value: "": supported values: "None", "NoneOnDryRun"',
    ],
    [
      'side effects',
      { sideEffects: 'Some' },
      'webhooks[0].sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"',
    ],
    [
      'no time',
      { timeoutSeconds: 0 },
      'webhooks[0].timeoutSeconds: Invalid value: 0: the timeout value must be between 1 and 30 seconds',
    ],
    [
      'too much time',
      { timeoutSeconds: 31 },
      'webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds',
    ],
    [
      'no version',
      { admissionReviewVersions: [] },
      'webhooks[0].admissionReviewVersions: Required value: must specify one of v1, v1beta1',
    ],
    [
      'no known version',
      { admissionReviewVersions: ['v9'] },
      'webhooks[0].admissionReviewVersions: Invalid value: ["v9"]: must include at least one of v1, v1beta1',
    ],
    [
      'a version twice',
      { admissionReviewVersions: ['v1', 'v1'] },
      'webhooks[0].admissionReviewVersions[1]: Invalid value: "v1": duplicate version',
    ],
    [
      'a version that is none',
      { admissionReviewVersions: ['v1', '1'] },
      'webhooks[0].admissionReviewVersions[1]: Invalid value: "1": a DNS-1035 label…',
    ],
    [
      'no address',
      { clientConfig: {} },
      'webhooks[0].clientConfig: Required value: exactly one of url or service is required',
    ],
    [
      'no address at all',
      { clientConfig: undefined },
      'webhooks[0].clientConfig: Required value: exactly one of url or service is required',
    ],
    [
      'two addresses',
      { clientConfig: { url: 'https://a/b', service: { name: 'a', namespace: 'b' } } },
      'webhooks[0].clientConfig: Required value: exactly one of url or service is required',
    ],
    [
      'an address in the clear',
      { clientConfig: { url: 'http://a/b' } },
      `webhooks[0].clientConfig.url: Invalid value: "http": 'https' is the only allowed URL scheme; desired format: https://host[/path]`,
    ],
    [
      'an address with a user and a password',
      { clientConfig: { url: 'https://me:secret@a/b' } },
      'webhooks[0].clientConfig.url: Invalid value: "me:secret": user information is not permitted in the URL',
    ],
    [
      'an address with a user of no name',
      { clientConfig: { url: 'https://@a/b' } },
      'webhooks[0].clientConfig.url: Invalid value: "": user information is not permitted in the URL',
    ],
    [
      'an address without a host',
      { clientConfig: { url: 'https:///b' } },
      'webhooks[0].clientConfig.url: Invalid value: "": host must be specified; desired format: https://host[/path]',
    ],
    [
      'an address that cannot be read',
      { clientConfig: { url: 'https://a:b' } },
      'webhooks[0].clientConfig.url: Required value: url must be a valid URL: parse "https://a:b": invalid port ":b" after host; desired format: https://host[/path]',
    ],
    [
      'an address with a question',
      { clientConfig: { url: 'https://a/b?c=d' } },
      'webhooks[0].clientConfig.url: Invalid value: "c=d": query parameters are not permitted in the URL',
    ],
    [
      'a service without a name',
      { clientConfig: { service: { namespace: 'b' } } },
      'webhooks[0].clientConfig.service.namespace: Required value',
    ],
    [
      'a service at no port',
      { clientConfig: { service: { name: 'a', namespace: 'b', port: 70000 } } },
      'webhooks[0].clientConfig.service.port: Invalid value: 70000: port is not valid: must be between 1 and 65535, inclusive',
    ],
    [
      'a path with a hole',
      { clientConfig: { service: { name: 'a', namespace: 'b', path: '/a//b' } } },
      'webhooks[0].clientConfig.service.path: Invalid value: "/a//b": segment[1] may not be empty',
    ],
    [
      'a selector that is none',
      { namespaceSelector: { matchExpressions: [{ key: 'a', operator: 'Is' }] } },
      'webhooks[0].namespaceSelector.matchExpressions[0].operator: Invalid value: "Is": not a valid selector operator',
    ],
    [
      'another reinvocation policy',
      { reinvocationPolicy: 'Often' },
      'webhooks[0].reinvocationPolicy: Unsupported value: "Often": supported values: "IfNeeded", "Never"',
    ],
    ['no operation', { rules: [{ ...rule, operations: [] }] }, 'webhooks[0].rules[0].operations: Required value'],
    [
      'an unknown operation',
      { rules: [{ ...rule, operations: ['READ'] }] },
      'webhooks[0].rules[0].operations[0]: Unsupported value: "READ": supported values: "*", "CONNECT", "CREATE", "DELETE", "UPDATE"',
    ],
    [
      'all operations and one',
      { rules: [{ ...rule, operations: ['*', 'CREATE'] }] },
      `webhooks[0].rules[0].operations: Invalid value: ["*","CREATE"]: if '*' is present, must not specify other operations`,
    ],
    ['no group', { rules: [{ ...rule, apiGroups: undefined }] }, 'webhooks[0].rules[0].apiGroups: Required value'],
    [
      'an empty version',
      { rules: [{ ...rule, apiVersions: [''] }] },
      'webhooks[0].rules[0].apiVersions[0]: Required value',
    ],
    ['no resource', { rules: [{ ...rule, resources: [] }] }, 'webhooks[0].rules[0].resources: Required value'],
    [
      'an empty resource',
      { rules: [{ ...rule, resources: [''] }] },
      'webhooks[0].rules[0].resources[0]: Required value',
    ],
    [
      'everything and more',
      { rules: [{ ...rule, resources: ['*/*', 'pods'] }] },
      `webhooks[0].rules[0].resources: Invalid value: ["*/*","pods"]: if '*/*' is present, must not specify other resources`,
    ],
    [
      'all resources and one',
      { rules: [{ ...rule, resources: ['*', 'pods'] }] },
      `webhooks[0].rules[0].resources: Invalid value: ["*","pods"]: if '*' is present, must not specify other resources without subresources`,
    ],
    [
      'all subresources and one',
      { rules: [{ ...rule, resources: ['pods/*', 'pods/log'] }] },
      `webhooks[0].rules[0].resources[1]: Invalid value: "pods/log": if 'pods/*' is present, must not specify pods/log`,
    ],
    [
      'a subresource of all and of one',
      { rules: [{ ...rule, resources: ['*/scale', 'pods/scale'] }] },
      `webhooks[0].rules[0].resources[1]: Invalid value: "pods/scale": if '*/scale' is present, must not specify pods/scale`,
    ],
    [
      'another scope',
      { rules: [{ ...rule, scope: 'World' }] },
      'webhooks[0].rules[0].scope: Unsupported value: "World": supported values: "*", "Cluster", "Namespaced"',
    ],
    [
      'a condition without an expression',
      { matchConditions: [{ name: 'a', expression: ' ' }] },
      'webhooks[0].matchConditions[0].expression: Required value',
    ],
    [
      'a condition that is no truth',
      { matchConditions: [{ name: 'a', expression: '1' }] },
      'webhooks[0].matchConditions[0].expression: Invalid value: "1": must evaluate to bool but got int',
    ],
    [
      'a condition with what a constant cannot be',
      { matchConditions: [{ name: 'a', expression: "int('x') == 1" }] },
      "webhooks[0].matchConditions[0].expression: Internal error: program instantiation failed: type conversion error from 'string' to 'int'",
    ],
    [
      'a condition about parameters',
      { matchConditions: [{ name: 'a', expression: 'params == null' }] },
      `webhooks[0].matchConditions[0].expression: Invalid value: "params == null": compilation failed: ERROR: <input>:1:1: undeclared reference to 'params'…`,
    ],
    [
      'a condition with a bad name',
      { matchConditions: [{ name: 'a b', expression: 'true' }] },
      'webhooks[0].matchConditions[0].name: Invalid value: "a b": name part must consist of…',
    ],
    [
      'a condition twice',
      {
        matchConditions: [
          { name: 'a', expression: 'true' },
          { name: 'a', expression: 'true' },
        ],
      },
      'webhooks[0].matchConditions[1].name: Duplicate value: "a"',
    ],
    [
      'too many conditions',
      { matchConditions: Array.from({ length: 65 }, (_, index) => ({ name: `c${index}`, expression: 'true' })) },
      'webhooks[0].matchConditions: Too many: 65: must have at most 64 items',
    ],
  ])('is refused with %s', (_, more, message) => {
    const errors = errorsOf(webhook(more))
    // Rules of formats are told at length.
    const [start = '', ...rest] = message.split('…')
    expect(errors.map((each) => (rest.length > 0 ? each.slice(0, start.length) : each))).toEqual([start])
  })

  it('may name all resources after one of them, as upstream overlooks', () => {
    expect(errorsOf(webhook({ rules: [{ ...rule, resources: ['pods', '*'] }] }))).toEqual([])
  })

  it('has a name of its own', () => {
    expect(errorsOf(webhook(), webhook())).toEqual(['webhooks[1].name: Duplicate value: "sidecars.example.com"'])
  })

  it('is checked the same where it only judges', async () => {
    await validatingWebhookConfigurations.strategy.load?.()
    const given = configuration(webhook({ clientConfig: {}, sideEffects: undefined }))
    const errors = validatingWebhookConfigurations.strategy.validate?.(given, 'v1') ?? []
    expect(errors.map(({ field }) => field)).toEqual(['webhooks[0].sideEffects', 'webhooks[0].clientConfig'])
  })
})
