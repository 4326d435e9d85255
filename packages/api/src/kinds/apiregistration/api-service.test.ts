import { describe, expect, it } from 'vitest'
import { problemsOfStatus } from '../../../test/requests.ts'
import { type ApiService, apiServices } from './api-service.ts'

const spec = {
  group: 'example.com',
  version: 'v1',
  groupPriorityMinimum: 100,
  versionPriority: 10,
  service: { namespace: 'kube-system', name: 'api', port: 443 },
}
const apiService = (more: Partial<typeof spec> | object = {}, name = 'v1.example.com'): ApiService => ({
  apiVersion: 'apiregistration.k8s.io/v1',
  kind: 'APIService',
  metadata: { name },
  spec: { ...spec, ...more } as ApiService['spec'],
})
const local = { service: undefined }
const problems = (object: ApiService) =>
  (apiServices.strategy.validate?.(object, object.apiVersion) ?? []).map(({ field, message }) => `${field}: ${message}`)

describe('an APIService', () => {
  it.each<[string, ApiService, readonly string[]]>([
    ['is sound', apiService(), []],
    ['may be local', apiService(local), []],
    ['may be the core group', apiService({ ...local, group: '' }, 'v1.'), []],
    [
      'is named by what it serves',
      apiService({}, 'web'),
      ['metadata.name: Invalid value: "web": must be `spec.version+"."+spec.group`: "v1.example.com"'],
    ],
    [
      'has a group',
      apiService({ group: '', version: 'v2' }, 'v2.'),
      ['spec.group: Required value: only v1 may have an empty group and it better be legacy kube'],
    ],
    [
      'has priorities',
      apiService({ groupPriorityMinimum: 0, versionPriority: 1001 }),
      [
        'spec.groupPriorityMinimum: Invalid value: 0: must be positive and less than 20000',
        'spec.versionPriority: Invalid value: 1001: must be positive and less than 1000',
      ],
    ],
    [
      'names a service',
      apiService({ service: { port: 0 } }),
      [
        'spec.service.namespace: Required value',
        'spec.service.name: Required value',
        'spec.service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive',
      ],
    ],
    [
      'checks a certificate or does not',
      apiService({ caBundle: 'AAAA', insecureSkipTLSVerify: true }),
      ['spec.insecureSkipTLSVerify: Invalid value: true: may not be true if caBundle is present'],
    ],
    [
      'that is local has no certificate',
      apiService({ ...local, caBundle: 'AAAA', insecureSkipTLSVerify: true }),
      [
        'spec.caBundle: Invalid value: "3 bytes": local APIServices may not have a caBundle',
        'spec.insecureSkipTLSVerify: Invalid value: true: local APIServices may not have insecureSkipTLSVerify',
      ],
    ],
  ])('%s', (_what, object, expected) => {
    expect(problems(object)).toEqual(expected)
  })

  it('that is local is available at once', () => {
    const created = apiServices.strategy.prepareForCreate?.(apiService(local), 0)
    expect(created?.status?.conditions).toEqual([
      {
        type: 'Available',
        status: 'True',
        lastTransitionTime: '1970-01-01T00:00:00Z',
        reason: 'Local',
        message: 'Local APIServices are always available',
      },
    ])
    expect(apiServices.strategy.prepareForCreate?.(apiService(), 0).status).toBeUndefined()
  })

  it('shows who serves it, and whether that is there', () => {
    const cells = (object: ApiService) => apiServices.columns.slice(0, 3).map((each) => each.cell(object, 0))
    expect(cells(apiService())).toEqual(['v1.example.com', 'kube-system/api', 'Unknown'])
    const conditions = [{ type: 'Available', status: 'False', reason: 'MissingEndpoints' }]
    expect(cells({ ...apiService(), status: { conditions } })[2]).toBe('False (MissingEndpoints)')
    expect(cells(apiServices.strategy.prepareForCreate?.(apiService(local), 0) ?? apiService())).toEqual([
      'v1.example.com',
      'Local',
      'True',
    ])
  })

  it('is updated only as it was read', () => {
    expect(apiServices.rules.updatesUnconditionally).toBe(false)
  })
})

it('is not named by chance', () => {
  const { metadata, ...service } = apiService()
  expect(problems({ ...service, metadata: { ...metadata, generateName: 'web-' } })).toEqual([
    'metadata.generateName: Invalid value: "web-": must be `spec.version+"."+spec.group`: "v1.example.com"',
  ])
})

it('is not told what its name is to be where that is no segment of a path', () => {
  const { metadata, ...service } = apiService()
  expect(problems({ ...service, metadata: { ...metadata, name: '10%' } })).toEqual([])
})

it('has conditions that are true, false or unknown', () => {
  const of = (status: string) => ({ ...apiService(), status: { conditions: [{ type: 'Available', status }] } })
  expect(problemsOfStatus(apiServices, of('200Mi'), of('True'))).toEqual([
    'status.conditions[0].status: Unsupported value: "200Mi": supported values: "True", "False", "Unknown"',
  ])
})
