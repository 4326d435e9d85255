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
  readonly gracePeriod?: number
  readonly timeout: string
  readonly cascade: string
}

/** Deletes what is there, waits until it is gone, and creates the object. Calls `onDeleted` in between, where something was there. */
export async function recreate(
  session: Session,
  { resource, object }: Placed,
  host: Host,
  { gracePeriod = 0, timeout, cascade, validate, fieldManager }: RecreateFlags & { readonly fieldManager: string },
  onDeleted: () => void = () => {},
): Promise<KubernetesObject> {
  const { client } = session
  const key = keyOf(object)
  try {
    await client.delete(resource, key, {
      gracePeriodSeconds: gracePeriod,
      propagationPolicy: propagationPolicy(cascade),
    })
    onDeleted()
    await waitUntilGone(host, session, [{ resource, key, uid: undefined }], parseDuration(timeout))
  } catch (error) {
    if (!hasReason(error, 'NotFound')) throw error
  }
  const { resourceVersion: _, uid: __, ...metadata } = object.metadata
  return client.create(resource, { ...object, metadata }, { fieldManager, fieldValidation: fieldValidation[validate] })
}
