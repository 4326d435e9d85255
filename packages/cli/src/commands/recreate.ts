import { hasReason, type KubernetesObject } from '@coracle/api'
import { parseDuration } from '@coracle/environment'
import { CliError } from '../cli-error.ts'
import { describeError } from '../describe-error.ts'
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

/**
 * Deletes what is there, waits until it is gone, and creates the object. Where that is refused, what was there is created
 * again, and the refusal is thrown.
 */
export async function recreate(
  session: Session,
  placed: Placed,
  host: Host,
  flags: RecreateFlags & { readonly fieldManager: string },
): Promise<KubernetesObject> {
  const { resource, object } = placed
  const former = await session.client.get(resource, keyOf(object)).catch(whereFound)
  if (await deleteExisting(session, placed, flags)) {
    await waitUntilGone(host, session, [{ resource, key: keyOf(object), uid: undefined }], parseDuration(flags.timeout))
  }
  return createAnew(session, placed, flags).catch(async (refusal: unknown) => {
    if (former !== undefined) await restore(session, { ...placed, object: former }, flags, refusal)
    throw refusal
  })
}

/** Creates what was there again. Throws a CliError that tells of the refusal too, where that fails as well. */
async function restore(
  session: Session,
  former: Placed,
  flags: { readonly fieldManager: string },
  refusal: unknown,
): Promise<void> {
  try {
    await createAnew(session, former, { ...flags, validate: 'ignore' })
  } catch (error) {
    throw new CliError(
      `An error occurred force-replacing the existing object with the newly provided one:\n\n${describeError(refusal)}.\n\nAdditionally, an error occurred attempting to restore the original object:\n\n${describeError(error)}`,
    )
  }
}

function whereFound(error: unknown): undefined {
  if (!hasReason(error, 'NotFound')) throw error
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
