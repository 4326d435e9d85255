import { hasReason, type KubernetesObject } from '@coracle/api'
import { parseDuration } from '@coracle/environment'
import type { Host } from '../host.ts'
import type { Session } from '../session.ts'
import { waitUntilGone } from './await-deletion.ts'
import { propagationPolicy } from './cascade.ts'
import { fieldValidation, type ManifestCommandFlags, type Placed } from './manifest-command.ts'
import { keyOf } from './targets.ts'

/** Flags of commands that may delete an object to create it anew. */
export interface RecreateFlags extends Pick<ManifestCommandFlags, 'validate'> {
  /** Below zero: as long as the object says. */
  readonly gracePeriod: number
  readonly timeout: string
  readonly cascade: string
}

/** Deletes what is there, waits until it is gone, and creates the object. */
export async function recreate(
  session: Session,
  placed: Placed,
  host: Host,
  flags: RecreateFlags & { readonly fieldManager: string },
): Promise<KubernetesObject> {
  if (await deleteExisting(session, placed, flags)) {
    const doomed = [{ resource: placed.resource, key: keyOf(placed.object), uid: undefined }]
    await waitUntilGone(host, session, doomed, parseDuration(flags.timeout))
  }
  return createAnew(session, placed, flags)
}

/** Deletes the object of this name. Resolves to false where there is none. */
export async function deleteExisting(
  { client }: Session,
  { resource, object }: Placed,
  { gracePeriod, cascade }: RecreateFlags,
): Promise<boolean> {
  try {
    await client.delete(resource, keyOf(object), {
      ...(gracePeriod < 0 ? {} : { gracePeriodSeconds: gracePeriod }),
      propagationPolicy: propagationPolicy(cascade),
    })
    return true
  } catch (error) {
    if (hasReason(error, 'NotFound')) return false
    throw error
  }
}

/** Creates the object, whatever version and identity the file says it had. */
export function createAnew(
  { client }: Session,
  { resource, object }: Placed,
  { validate, fieldManager }: Pick<RecreateFlags, 'validate'> & { readonly fieldManager: string },
): Promise<KubernetesObject> {
  const { resourceVersion: _, uid: __, ...metadata } = object.metadata
  return client.create(resource, { ...object, metadata }, { fieldManager, fieldValidation: fieldValidation[validate] })
}
