import {
  hasReason,
  type KubernetesObject,
  type ParamKind,
  type ParamRef,
  selectorFromLabelSelector,
} from '@coracle/api'
import type { Registries } from '../../registries.ts'
import type { ResourceRegistry } from '../../registry/resource-registry.ts'

/** Why a policy whose parameters are of this kind cannot be asked at all; undefined where it can. */
export function paramKindProblem(registries: Registries, kind: ParamKind | undefined): string | undefined {
  if (kind === undefined || registryOf(registries, kind) !== undefined) return undefined
  const { apiVersion = '', kind: kindName = '' } = kind
  const version = apiVersion.includes('/') ? apiVersion : `/${apiVersion}`
  return `failed to find resource referenced by paramKind: '${version}, Kind=${kindName}'`
}

/**
 * The objects that hold the parameters of a policy; one that is undefined where it has none. Throws an Error that says why they
 * cannot be found.
 */
export async function paramsOf(
  registries: Registries,
  kind: ParamKind | undefined,
  reference: ParamRef | undefined,
  requestNamespace: string,
): Promise<readonly (KubernetesObject | undefined)[]> {
  if (kind === undefined || reference === undefined) return [undefined]
  const registry = registryOf(registries, kind)
  if (registry === undefined) throw new Error(paramKindProblem(registries, kind))
  const found = await find(registry, reference, namespaceOf(registry, reference, requestNamespace))
  if (found.length === 0 && reference.parameterNotFoundAction !== 'Allow') {
    throw new Error('no params found for policy binding with `Deny` parameterNotFoundAction')
  }
  return found
}

const registryOf = (registries: Registries, { apiVersion = '', kind = '' }: ParamKind): ResourceRegistry | undefined =>
  registries.byKind(apiVersion, kind)

function namespaceOf({ definition }: ResourceRegistry, { namespace = '' }: ParamRef, requestNamespace: string): string {
  if (!definition.namespaced) {
    if (namespace === '') return ''
    throw new Error('paramRef.namespace must not be provided for a cluster-scoped `paramKind`')
  }
  const used = namespace === '' ? requestNamespace : namespace
  if (used !== '') return used
  throw new Error('cannot use namespaced paramRef in policy binding that matches cluster-scoped resources')
}

async function find(
  registry: ResourceRegistry,
  { name = '', selector }: ParamRef,
  namespace: string,
): Promise<readonly KubernetesObject[]> {
  if (name === '') {
    const labelSelector = selectorFromLabelSelector(selector).toString()
    const { items } = await registry.list({ namespace, labelSelector })
    return items.map(({ object }) => object)
  }
  try {
    return [(await registry.get(namespace, name)).object]
  } catch (error) {
    if (hasReason(error, 'NotFound')) return []
    throw error
  }
}
