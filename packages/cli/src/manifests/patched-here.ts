import {
  ApiError,
  apiVersionOf,
  applyJsonPatch,
  applyMergePatch,
  applyStrategicMergePatch,
  isJsonObject,
  jsonTypeOf,
  type KubernetesObject,
  type Resource,
} from '@coracle/api'
import type { Patch } from '@coracle/client'
import { CliError } from '../cli-error.ts'
import { schemaOf } from './patch-between.ts'

/** An object as a patch makes it, without a server. Rejects as a server would what does not apply. */
export function patchedHere(
  resource: Pick<Resource, 'group' | 'version' | 'kind'>,
  object: KubernetesObject,
  { type, body }: Patch,
): KubernetesObject {
  switch (type) {
    case 'json':
      return withoutSubject(() => requireObject(applyJsonPatch(object, body)))
    case 'strategic': {
      const schema = schemaOf(resource)
      if (schema === undefined) {
        throw new CliError(
          `strategic merge patch is not supported for ${apiVersionOf(resource)}, Kind=${resource.kind} locally, try --type merge`,
        )
      }
      return withoutSubject(() => applyStrategicMergePatch(schema, object, body)) as KubernetesObject
    }
    default:
      if (typeof body !== 'object') throw new CliError('Invalid JSON Patch')
      return requireObject(applyMergePatch(object, body))
  }
}

/** Throws a CliError, in the words of Go, where a patch puts something else in the place of the object. */
function requireObject(patched: unknown): KubernetesObject {
  if (isJsonObject(patched)) return patched as unknown as KubernetesObject
  throw new CliError(`json: cannot unmarshal ${jsonTypeOf(patched)} into Go value of type unstructured.detector`)
}

/** What a server says of the patch in a request is said here of the patch itself: what does not fit, where the server tells only that something does not. */
function withoutSubject<T>(patch: () => T): T {
  try {
    return patch()
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const [cause] = error.status.details?.causes ?? []
    throw new CliError(cause?.message ?? error.message, { cause: error })
  }
}
