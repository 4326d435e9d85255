import { type FieldError, invalidField, requiredField, unsupportedField } from '../../field-error.ts'
import { FieldPath } from '../../field-path.ts'
import { kindSchema } from '../../meta.ts'
import { boolean, bytes, int32, mapList, object, optional, pointer, required, string } from '../../schema/builders.ts'
import type { Infer } from '../../schema/schema.ts'
import { checkFormat, checkName, rangeMessage } from '../../string-formats.ts'
import { formatTime } from '../../time.ts'
import { ageColumn, column, nameColumn } from '../columns.ts'
import { kind } from '../kind.ts'
import { conditionOf } from '../meta/condition.ts'
import { apiregistrationV1 } from './names.ts'

export interface ServiceReference extends Infer<typeof serviceReference> {}
export const serviceReference = object(`${apiregistrationV1}.ServiceReference`, 'Names a service, and a port of it.', {
  namespace: optional(string(), 'Namespace of the service.'),
  name: optional(string(), 'Name of the service.'),
  port: pointer(int32(), 'The port on which it serves; 443 unless set.', { default: 443 }),
})

export interface ApiServiceSpec extends Infer<typeof apiServiceSpec> {}
export const apiServiceSpec = object(
  `${apiregistrationV1}.APIServiceSpec`,
  'A version of a group of the API, and who serves it.',
  {
    service: optional(serviceReference, 'The service that serves it. Without one this server does.'),
    group: optional(string(), 'The group; empty for the core group.'),
    version: optional(string(), 'The version.'),
    insecureSkipTLSVerify: optional(boolean, 'Takes any certificate of the service for its own.'),
    caBundle: optional({ ...bytes, listType: 'atomic' }, 'Certificates (PEM) by which that of the service is checked.'),
    groupPriorityMinimum: required(int32(), 'Groups of higher numbers come first, from 1 to 20000.', { default: 0 }),
    versionPriority: required(int32(), 'Versions of higher numbers come first in their group, from 1 to 1000.', {
      default: 0,
    }),
  },
)

export interface ApiServiceCondition extends Infer<typeof apiServiceCondition> {}
export const apiServiceCondition = conditionOf(
  `${apiregistrationV1}.APIServiceCondition`,
  'One aspect of how an APIService is.',
  'What it is about: Available.',
)

export const apiServiceStatus = object(`${apiregistrationV1}.APIServiceStatus`, 'How an APIService is.', {
  conditions: optional(
    mapList(apiServiceCondition, ['type'], { patchStrategy: 'merge', duplicates: 'allowed' }),
    'How it is, by type.',
  ),
})

/** A version of a group of the API that this server or another one serves. */
export interface ApiService extends Infer<typeof apiServiceSchema> {}
export const apiServiceSchema = kindSchema(
  `${apiregistrationV1}.APIService`,
  'Says who serves a version of a group of the API: this server, or another one behind a service. Its name is VERSION.GROUP.',
  {
    spec: optional(apiServiceSpec, 'What is served, and by whom.', {
      default: { groupPriorityMinimum: 0, versionPriority: 0 },
    }),
    status: optional(apiServiceStatus, 'How it is.', { default: {} }),
  },
)

/** `apiregistration.k8s.io/v1` apiservices. */
export const apiServices = kind<ApiService>(apiServiceSchema, {
  plural: 'apiservices',
  namespaced: false,
  categories: ['api-extensions'],
  nameFormat: 'path-segment',
  rules: { updatesUnconditionally: false, statusKeeps: 'metadata' },
  finalizers: 'any',
  columns: [
    nameColumn,
    column('Service', serviceText, 'The reference to the service that hosts this API endpoint.'),
    column('Available', availableText, 'Whether this service is available.'),
    ageColumn,
  ],
  // What this server serves itself is there as long as it is.
  prepareForCreate: (apiService, nowMs) =>
    apiService.spec?.service === undefined
      ? { ...apiService, status: { conditions: [localCondition(nowMs)] } }
      : apiService,
  validate: validateApiService,
  validateStatusUpdate: validateApiServiceStatus,
})

/** That what this server serves itself is available. */
export function localCondition(nowMs: number): ApiServiceCondition {
  return {
    type: 'Available',
    status: 'True',
    lastTransitionTime: formatTime(nowMs),
    reason: 'Local',
    message: 'Local APIServices are always available',
  }
}

function serviceText({ spec }: ApiService): string {
  const { service } = spec ?? {}
  return service === undefined ? 'Local' : `${service.namespace ?? ''}/${service.name ?? ''}`
}

function availableText({ status }: ApiService): string {
  const available = status?.conditions?.find(({ type }) => type === 'Available')
  if (available === undefined) return 'Unknown'
  return available.status === 'True' ? 'True' : `${available.status} (${available.reason ?? ''})`
}

/** Priorities of groups and versions are no higher than these. */
const groupPriorityMax = 20_000
const versionPriorityMax = 1_000

/** ValidateAPIService of kube-aggregator's apis/apiregistration/validation. */
function validateApiService({ metadata, spec }: ApiService): readonly FieldError[] {
  const { group = '', version = '', groupPriorityMinimum = 0, versionPriority = 0 } = spec ?? {}
  const path = FieldPath.of('spec')
  const errors: FieldError[] = []
  const name = `${version}.${group}`
  // Upstream holds what a name is to begin with against the same rule, so that no name is generated.
  for (const field of ['generateName', 'name'] as const) {
    const given = metadata[field] ?? ''
    // Of what is no segment of a path nothing more is said.
    if (given === '' || given === name || checkName('path-segment', given, field === 'generateName').length > 0)
      continue
    const why = `must be \`spec.version+"."+spec.group\`: ${JSON.stringify(name)}`
    errors.push(invalidField(FieldPath.of('metadata', field), given, why))
  }
  if (group === '' && version !== 'v1') {
    errors.push(requiredField(path.field('group'), 'only v1 may have an empty group and it better be legacy kube'))
  }
  if (group !== '') {
    for (const why of checkFormat('dns1123-subdomain', group))
      errors.push(invalidField(path.field('group'), group, why))
  }
  for (const why of checkFormat('dns1035-label', version))
    errors.push(invalidField(path.field('version'), version, why))
  if (groupPriorityMinimum <= 0 || groupPriorityMinimum > groupPriorityMax) {
    const why = `must be positive and less than ${groupPriorityMax}`
    errors.push(invalidField(path.field('groupPriorityMinimum'), groupPriorityMinimum, why))
  }
  if (versionPriority <= 0 || versionPriority > versionPriorityMax) {
    const why = `must be positive and less than ${versionPriorityMax}`
    errors.push(invalidField(path.field('versionPriority'), versionPriority, why))
  }
  return [...errors, ...addressErrors(spec ?? { groupPriorityMinimum: 0, versionPriority: 0 }, path)]
}

const statuses = ['True', 'False', 'Unknown']

/** What is wrong with a status. Nobody looks at it when the object is created. */
function validateApiServiceStatus({ status }: ApiService): readonly FieldError[] {
  const path = FieldPath.of('status', 'conditions')
  return (status?.conditions ?? []).flatMap((condition, index) =>
    statuses.includes(condition.status)
      ? []
      : [unsupportedField(path.index(index).field('status'), condition.status, statuses)],
  )
}

function addressErrors(spec: ApiServiceSpec, path: FieldPath): readonly FieldError[] {
  const { service, caBundle = '', insecureSkipTLSVerify = false } = spec
  if (service === undefined) {
    const size = `${Buffer.from(caBundle, 'base64').length} bytes`
    return [
      ...(caBundle === ''
        ? []
        : [invalidField(path.field('caBundle'), size, 'local APIServices may not have a caBundle')]),
      ...(insecureSkipTLSVerify
        ? [
            invalidField(
              path.field('insecureSkipTLSVerify'),
              true,
              'local APIServices may not have insecureSkipTLSVerify',
            ),
          ]
        : []),
    ]
  }
  const { namespace = '', name = '', port = 443 } = service
  const at = path.field('service')
  return [
    ...(namespace === '' ? [requiredField(at.field('namespace'))] : []),
    ...(name === '' ? [requiredField(at.field('name'))] : []),
    ...(port < 1 || port > 65_535
      ? [invalidField(at.field('port'), port, `port is not valid: ${rangeMessage(1, 65_535)}`)]
      : []),
    ...(insecureSkipTLSVerify && caBundle !== ''
      ? [invalidField(path.field('insecureSkipTLSVerify'), true, 'may not be true if caBundle is present')]
      : []),
  ]
}
