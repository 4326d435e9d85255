import type { KubernetesObject, Resource } from '@coracle/api'
import type { ApplyOptions, Client } from '@coracle/client'
import { CliError } from '../cli-error.ts'
import { describeError } from '../describe-error.ts'

/** Lets the server merge what a file says. Where others own what that would change, says what can be done. */
export async function applyOnServer(
  client: Client,
  resource: Resource,
  wanted: KubernetesObject,
  options: ApplyOptions,
): Promise<KubernetesObject> {
  try {
    return await client.apply(resource, wanted, options)
  } catch (error) {
    if (!isOwnershipConflict(error)) throw error
    throw new CliError(`${describeError(error)}\n${advice}`)
  }
}

const advice = `Others set these fields and may set them again. To take them over, add --force-conflicts;
to leave them to others, take them out of the file; to share them, give them the values they have.`

function isOwnershipConflict(error: unknown): boolean {
  const { status } = error as { readonly status?: { readonly details?: { readonly causes?: readonly object[] } } }
  const causes = status?.details?.causes ?? []
  return causes.some((cause) => (cause as { readonly reason?: string }).reason === 'FieldManagerConflict')
}
