import {
  ApiError,
  applyJsonPatch,
  applyMergePatch,
  applyStrategicMergePatch,
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
      return withoutSubject(() => applyJsonPatch(object, body)) as KubernetesObject
    case 'strategic': {
      const schema = schemaOf(resource)
      if (schema === undefined) throw new CliError(`${resource.kind} knows no strategic patches: try --type merge`)
      return applyStrategicMergePatch(schema, object, body) as KubernetesObject
    }
    default:
      return applyMergePatch(object, body) as KubernetesObject
  }
}

/** What a server says of the patch in a request is said here of the patch itself. */
function withoutSubject<T>(patch: () => T): T {
  try {
    return patch()
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    throw new CliError(error.message.replace(/^patch: /, ''), { cause: error })
  }
}
