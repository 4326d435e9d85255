/** What expressions about a request see of it. */
import { celValueOf } from '../cel/json-values.ts'
import {
  authorizerTypeName,
  authorizerValue,
  type ExpressionAuthorizer,
  resourceCheckTypeName,
  resourceCheckValue,
} from '../cel/library/authorizer.ts'
import { type CelType, listOf, mapOf, types } from '../cel/types.ts'
import type { CelValue } from '../cel/values.ts'
import type { KubernetesObject } from '../meta.ts'
import type { AdmissionExpressionOptions } from './expression.ts'

interface GroupVersionKind {
  readonly group: string
  readonly version: string
  readonly kind: string
}

interface GroupVersionResource {
  readonly group: string
  readonly version: string
  readonly resource: string
}

/** A request as webhooks and expressions see it: upstream's AdmissionRequest without the objects. What is empty is absent. */
export interface AdmissionRequest {
  /** What the objects are sent as. */
  readonly kind: GroupVersionKind
  /** The resource in the version they are sent in. */
  readonly resource: GroupVersionResource
  readonly subResource?: string
  /** What the objects of the request itself are. */
  readonly requestKind: GroupVersionKind
  readonly requestResource: GroupVersionResource
  readonly requestSubResource?: string
  readonly name?: string
  readonly namespace?: string
  readonly operation: string
  readonly userInfo: {
    readonly username?: string
    readonly uid?: string
    readonly groups?: readonly string[]
    readonly extra?: Readonly<Record<string, readonly string[]>>
  }
  readonly dryRun: boolean
  readonly options: Readonly<Record<string, unknown>> | null
}

/** What there is to know about a request. */
export interface AdmissionFacts {
  readonly request: AdmissionRequest
  readonly object: KubernetesObject | undefined
  readonly oldObject: KubernetesObject | undefined
  readonly namespaceObject?: KubernetesObject | undefined
  readonly params?: KubernetesObject | undefined
  readonly authorizer?: ExpressionAuthorizer
}

/** The values of the variables of an expression. */
export function admissionVariables({
  request,
  object,
  oldObject,
  namespaceObject,
  params,
  authorizer,
}: AdmissionFacts): Map<string, CelValue> {
  const values = new Map<string, CelValue>([
    ['object', celValueOf(object)],
    ['oldObject', celValueOf(oldObject)],
    ['request', celValueOf(request)],
    ['namespaceObject', namespaceObject === undefined ? null : namespaceValue(namespaceObject)],
    ['params', celValueOf(params)],
  ])
  if (authorizer !== undefined) {
    const { group, resource } = request.requestResource
    const { requestSubResource: subresource = '', namespace = '', name = '' } = request
    values.set('authorizer', authorizerValue(authorizer))
    const asked = { group, resource, subresource, namespace, name }
    values.set('authorizer.requestResource', resourceCheckValue(authorizer, asked))
  }
  return values
}

/**
 * Of the metadata of a namespace not all can be asked about. As upstream has it the fields are those of its JSON, whatever types are
 * declared for them: times are texts, and what is declared as `UID` is not there.
 */
function namespaceValue({ metadata, ...rest }: KubernetesObject): CelValue {
  const { managedFields: _1, ownerReferences: _2, ...shown } = metadata
  const { spec = {}, status = {} } = rest as { readonly spec?: object; readonly status?: object }
  return celValueOf({ metadata: shown, spec, status })
}

const { string, int, timestamp, dyn, bool } = types

const objectType = (name: string, fields: Readonly<Record<string, CelType>>): CelType => ({
  kind: 'object',
  name: `kubernetes.${name}`,
  fields: new Map(Object.entries(fields)),
})

const kindType = objectType('GroupVersionKind', { group: string, version: string, kind: string })
const resourceType = objectType('GroupVersionResource', { group: string, version: string, resource: string })
/** What expressions see of a user. */
export const userInfoType = objectType('UserInfo', {
  username: string,
  uid: string,
  groups: listOf(string),
  extra: mapOf(string, listOf(string)),
})

const requestType = objectType('AdmissionRequest', {
  kind: kindType,
  resource: resourceType,
  subResource: string,
  requestKind: kindType,
  requestResource: resourceType,
  requestSubResource: string,
  name: string,
  namespace: string,
  operation: string,
  userInfo: userInfoType,
  dryRun: bool,
  options: dyn,
})

const namespaceType = objectType('Namespace', {
  metadata: objectType('NamespaceMetadata', {
    name: string,
    generateName: string,
    namespace: string,
    labels: mapOf(string, string),
    annotations: mapOf(string, string),
    UID: string,
    creationTimestamp: timestamp,
    deletionGracePeriodSeconds: int,
    deletionTimestamp: timestamp,
    generation: int,
    resourceVersion: string,
    finalizers: listOf(string),
  }),
  spec: objectType('NamespaceSpec', { finalizers: listOf(string) }),
  status: objectType('NamespaceStatus', {
    conditions: listOf(
      objectType('NamespaceCondition', {
        status: string,
        type: string,
        lastTransitionTime: timestamp,
        message: string,
        reason: string,
      }),
    ),
    phase: string,
  }),
})

/** The types of the variables that an expression may name. */
export function variableTypes({
  hasParams,
  hasAuthorizer,
  variables,
  types: known,
}: AdmissionExpressionOptions): ReadonlyMap<string, CelType> {
  const { object = dyn, params = dyn } = known ?? {}
  const all = new Map<string, CelType>([
    ['object', object],
    ['oldObject', object],
    ['request', requestType],
    ['namespaceObject', namespaceType],
  ])
  if (hasParams) all.set('params', params)
  if (hasAuthorizer) {
    all.set('authorizer', { kind: 'opaque', name: authorizerTypeName })
    // Where upstream checks types of policies it has forgotten this one.
    if (known === undefined) all.set('authorizer.requestResource', { kind: 'opaque', name: resourceCheckTypeName })
  }
  if (variables !== undefined) all.set('variables', { kind: 'object', name: 'kubernetes.variables', fields: variables })
  return all
}
