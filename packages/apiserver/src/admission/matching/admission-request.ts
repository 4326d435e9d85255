import type { ResourceDefinition } from '@coracle/api'
import type { AdmissionRequest } from '@coracle/api/admission'
import type { DeleteOptions } from '@coracle/client'
import type { RegistryWriteOptions } from '../../registry-contract.ts'
import type { User } from '../../request.ts'
import type { AdmissionAttributes } from '../admission.ts'
import { namespaceOf } from './criteria.ts'

/** A request as webhooks and expressions see it, its objects in this version. Members stand in upstream's order. */
export function admissionRequest(attributes: AdmissionAttributes, version: ResourceDefinition): AdmissionRequest {
  const { kind, definition, requested, subresource, name, operation, context, dryRun } = attributes
  // What a subresource exchanges is the same whatever the version of its resource.
  const kindIn = (each: ResourceDefinition) => gvkOf(kind === definition ? each : kind)
  const namespace = namespaceOf(attributes)
  return {
    kind: kindIn(version),
    resource: gvrOf(version),
    ...(subresource === '' ? {} : { subResource: subresource }),
    requestKind: kindIn(requested),
    requestResource: gvrOf(requested),
    ...(subresource === '' ? {} : { requestSubResource: subresource }),
    ...(name === '' ? {} : { name }),
    ...(namespace === '' ? {} : { namespace }),
    operation,
    userInfo: userInfoOf(context.user),
    dryRun,
    options: optionsOf(attributes),
  }
}

const gvkOf = ({ group, version, kind }: Pick<ResourceDefinition, 'group' | 'version' | 'kind'>) => ({
  group,
  version,
  kind,
})

const gvrOf = ({ group, version, plural }: ResourceDefinition) => ({ group, version, resource: plural })

function userInfoOf({ name, uid = '', groups, extra = {} }: User): AdmissionRequest['userInfo'] {
  return {
    ...(name === '' ? {} : { username: name }),
    ...(uid === '' ? {} : { uid }),
    ...(groups.length === 0 ? {} : { groups }),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  }
}

const optionKinds = { CREATE: 'CreateOptions', UPDATE: 'UpdateOptions', DELETE: 'DeleteOptions' } as const

function optionsOf({ operation, options, dryRun }: AdmissionAttributes): AdmissionRequest['options'] {
  if (operation === 'CONNECT') return null
  const common = {
    kind: optionKinds[operation],
    apiVersion: 'meta.k8s.io/v1',
    ...(dryRun ? { dryRun: ['All'] } : {}),
  }
  if (operation === 'DELETE') {
    const { gracePeriodSeconds, propagationPolicy, preconditions } = options as DeleteOptions
    return {
      ...common,
      ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
      ...(propagationPolicy === undefined ? {} : { propagationPolicy }),
      ...(preconditions === undefined ? {} : { preconditions }),
    }
  }
  const { fieldManager, fieldValidation } = options as RegistryWriteOptions
  return {
    ...common,
    ...(fieldManager === '' ? {} : { fieldManager }),
    // What clients get who do not say is not told.
    ...(fieldValidation === 'Warn' ? {} : { fieldValidation }),
  }
}
